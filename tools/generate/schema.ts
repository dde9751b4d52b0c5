import { type CodeKeywordDefinition, type Options, Ajv, _ } from 'ajv';
import addFormats from 'ajv-formats';
import { nameFormats } from './name-characters.ts';

/** An ajv that reports all faults, knows all formats and keeps the source of what it compiles. */
export function sourceAjv(options: Options = {}): Ajv {
  const ajv = new Ajv({
    strict: true,
    // `anyOf: [{ required: [a] }, …]` next to `properties` is plain OpenAPI.
    strictRequired: false,
    allErrors: true,
    code: { source: true, lines: true },
    ...options,
  });
  addFormats.default(ajv);
  for (const keyword of ['pattern', 'format']) tryWithinLength(ajv, keyword);
  for (const [name, format] of Object.entries(nameFormats)) ajv.addFormat(name, format);
  return ajv;
}

/**
 * Makes a keyword skip strings longer than the `maxLength` next to it, which is reported anyway. Otherwise
 * `allErrors` runs expressions over strings of any length. `maxLength` counts characters of one or two code units.
 */
function tryWithinLength(ajv: Ajv, keyword: string): void {
  const { definition } = ajv.RULES.all[keyword] as { definition: CodeKeywordDefinition };
  const { code } = definition;
  definition.code = (cxt, ruleType) => {
    const { maxLength } = cxt.parentSchema as { maxLength?: number };
    if (maxLength === undefined) return code(cxt, ruleType);
    cxt.gen.if(_`${cxt.data}.length <= ${2 * maxLength}`, () => code(cxt, ruleType));
  };
}
