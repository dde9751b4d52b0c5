import {
  type Contract,
  type Operation,
  type Ref,
  type Schema,
  operationsOf,
  resolve,
} from './generate/document.ts';

interface Request extends Operation {
  readonly parameters?: readonly Ref<{ name: string; schema: Schema }>[];
  readonly requestBody?: Ref<{ content: Record<string, { schema: Schema }> }>;
}

/** Formats whose expressions take linear time (tools/check-expressions.ts), so that any length is cheap. */
const LINEAR_FORMATS = new Set([undefined, 'binary', 'password', 'date', 'date-time']);
const SCALAR = new Set(['string', 'integer', 'number', 'boolean']);

/**
 * Lists and maps in requests that may have any number of items: what a request costs must have a limit. And lists of
 * something else than scalars that must be unique: finding out compares each with each. And strings with a format, or a
 * pattern without one, that may have any length: the validators try neither on a string that is too long.
 */
export function unbounded(contract: Contract): string[] {
  const found = new Set<string>();

  function visit(schema: unknown, path: string, seen: readonly string[] = []): void {
    if (Array.isArray(schema)) return schema.forEach((each, index) => visit(each, `${path}/${index}`, seen));
    if (typeof schema !== 'object' || schema === null) return;
    const { $ref } = schema as { $ref?: string };
    if ($ref !== undefined) {
      if (!seen.includes($ref)) visit(resolve<Schema>(contract, schema as Schema), $ref, [...seen, $ref]);
      return;
    }
    const { type, items, properties = {}, additionalProperties, uniqueItems, ...rest } = schema as Schema;
    if (type === 'array' && rest['maxItems'] === undefined) found.add(`${path}: has no maxItems`);
    if (additionalProperties && rest['maxProperties'] === undefined)
      found.add(`${path}: has no maxProperties`);
    if (uniqueItems && !SCALAR.has(String(resolve<Schema>(contract, items as Schema)['type']))) {
      found.add(`${path}: has uniqueItems of something else than scalars`);
    }
    const { maxLength, format, pattern } = rest as { maxLength?: number; format?: string; pattern?: string };
    const isMatched = format === undefined ? pattern !== undefined : !LINEAR_FORMATS.has(format);
    if (type === 'string' && isMatched && maxLength === undefined) found.add(`${path}: has no maxLength`);
    visit(items, `${path}/items`, seen);
    visit(additionalProperties, `${path}/additionalProperties`, seen);
    for (const [name, property] of Object.entries(properties as object)) {
      visit(property, `${path}/properties/${name}`, seen);
    }
    for (const keyword of ['allOf', 'anyOf', 'oneOf', 'not'])
      visit(rest[keyword], `${path}/${keyword}`, seen);
  }

  for (const operation of operationsOf(contract)) {
    const { operationId, parameters = [], requestBody } = operation as Request;
    for (const parameter of parameters) {
      const { name, schema } = resolve<{ name: string; schema: Schema }>(contract, parameter);
      visit(schema, `${operationId}/${name}`);
    }
    const { content } = requestBody
      ? resolve<{ content: Record<string, { schema: Schema }> }>(contract, requestBody)
      : { content: {} };
    for (const { schema } of Object.values(content)) visit(schema, `${operationId}/requestBody`);
  }
  return [...found];
}
