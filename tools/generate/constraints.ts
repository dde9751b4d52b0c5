import type { Schema } from './document.ts';

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
/** What the service enforces, and generators cannot: a type such as a date has no pattern. */
const SERVICE_ONLY: Readonly<Record<string, string>> = { 'x-format': 'format', 'x-pattern': 'pattern' };

/**
 * Drops what documents a schema and does not constrain it, and adds what only the service enforces. The rest must be
 * known to ajv's strict mode, so a misspelled keyword stops the build; and schemas that differ only in wording become
 * one function.
 */
export function constraintsOf(schema: unknown, drop: readonly string[] = []): unknown {
  if (Array.isArray(schema)) return schema.map((entry) => constraintsOf(entry, drop));
  if (typeof schema !== 'object' || schema === null) return schema;
  for (const [mark, keyword] of Object.entries(SERVICE_ONLY)) {
    if (mark in schema && keyword in schema) throw new Error(`a schema has both ${keyword} and ${mark}`);
  }
  const kept = Object.entries(schema)
    .map(([keyword, value]) => [SERVICE_ONLY[keyword] ?? keyword, value] as const)
    .filter(([keyword]) => !ANNOTATIONS.has(keyword) && !keyword.startsWith('x-') && !drop.includes(keyword));
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
