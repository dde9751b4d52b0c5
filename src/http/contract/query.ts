import type { Operation } from 'openapi-backend';

/** Parameters by name. A repeated one is an array, which no scalar parameter accepts. */
export type TextQuery = Record<string, string | string[]>;

/** @param search the query string without its question mark */
export function parseQuery(search: string): TextQuery {
  const query: TextQuery = Object.create(null);
  if (search === '') return query;
  for (const [name, value] of new URLSearchParams(search)) {
    const before = query[name];
    if (Array.isArray(before)) before.push(value);
    else query[name] = before === undefined ? value : [before, value];
  }
  return query;
}

/** A number as JSON writes an integer. Other notations (`0x10`, `1e400`, ` 7`) stay text, which validation refuses. */
const INTEGER = /^(0|-?[1-9]\d{0,14})$/;

/** The query with its integer and boolean parameters as such. */
export function withScalars(
  query: TextQuery,
  operation: Operation,
): Record<string, string | number | boolean | string[]> {
  const { parameters = [] } = operation;
  if (parameters.length === 0) return query;
  const read: Record<string, string | number | boolean | string[]> = { ...query };
  for (const parameter of parameters) {
    if (!('schema' in parameter) || parameter.in !== 'query') continue;
    const { name, schema } = parameter as { name: string; schema: { type?: string } };
    const value = query[name];
    if (schema.type === 'integer' && typeof value === 'string' && INTEGER.test(value))
      read[name] = Number(value);
    if (schema.type === 'boolean' && (value === 'true' || value === 'false')) read[name] = value === 'true';
  }
  return read;
}
