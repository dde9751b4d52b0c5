import { type CodeKeywordDefinition, type Options, Ajv, _ } from 'ajv';
import addFormats from 'ajv-formats';
import type { Schema } from './document.ts';
import { nameFormats } from './name-characters.ts';

const ANNOTATIONS = new Set([
  'title',
  'description',
  'example',
  'externalDocs',
  'deprecated',
  'readOnly',
  'writeOnly',
  'xml',
  'discriminator',
]);
const MAPS = new Set(['properties', 'patternProperties', 'definitions']);
const VALUES = new Set(['enum', 'const', 'default', 'required']);

/**
 * Drops what documents a schema and does not constrain it. What is left must be known to ajv's strict mode, so a
 * misspelt keyword stops the build; and schemas that differ only in wording become one function.
 */
export function constraintsOf(schema: unknown, drop: readonly string[] = []): unknown {
  if (Array.isArray(schema)) return schema.map((entry) => constraintsOf(entry, drop));
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([keyword]) => !ANNOTATIONS.has(keyword) && !keyword.startsWith('x-') && !drop.includes(keyword),
  );
  return Object.fromEntries(
    kept.map(([keyword, value]) => {
      if (VALUES.has(keyword)) return [keyword, value];
      if (MAPS.has(keyword)) return [keyword, constraintsOfEach(value as Record<string, Schema>, drop)];
      return [keyword, constraintsOf(value, drop)];
    }),
  );
}

/** `constraintsOf` for a map from names to schemas, where a name may look like a keyword. */
export function constraintsOfEach(schemas: Record<string, Schema>, drop: readonly string[] = []) {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, constraintsOf(schema, drop) as Schema]),
  );
}

/** An ajv that reports all faults, knows all formats and keeps the source of what it compiles. */
export function sourceAjv(options: Options = {}): Ajv {
  const ajv = new Ajv({
    strict: true,
    // `anyOf: [{ required: [a] }, …]` beside `properties` is plain OpenAPI.
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
 * Makes a keyword skip strings that are longer than the `maxLength` beside it, which is reported anyway. Otherwise `allErrors`
 * runs expressions over strings of any length. `maxLength` counts characters, of which each is one or two code units.
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
