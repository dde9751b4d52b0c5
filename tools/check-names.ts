import { type Contract, type Ref, type Schema, resolve } from './generate/document.ts';
import { nameFormats } from './generate/name-characters.ts';

const NAME = /^(.*_)?(name|names|username|nickname|tier|tiers|role|label|title|tag|features)$/;

/**
 * Names in requests that lack `x-name`: `given` for a new name, which must be visible, or `known` for one that
 * exists. A given name has one of the formats for names, except tiers, which are compared with existing ones.
 */
export function unmarkedNames(contract: Contract): string[] {
  const found = new Set<string>();
  const seen = new Set<unknown>();

  function visit(node: Ref<Schema>, path: string): void {
    const schema = resolve(contract, node);
    if (seen.has(schema)) return;
    seen.add(schema);
    for (const [name, property] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)) {
      const at = `${path}/${name}`;
      if (NAME.test(name)) check(property, at);
      visit(property, at);
    }
    for (const key of ['allOf', 'anyOf', 'oneOf']) {
      for (const part of (schema[key] ?? []) as Schema[]) visit(part, path);
    }
    if (schema['items']) visit(schema['items'] as Schema, `${path}/*`);
  }

  function check(property: Ref<Schema>, at: string): void {
    const { items, ...own } = resolve(contract, property);
    const schema = items ? resolve(contract, items as Schema) : own;
    if (schema['type'] !== 'string' || schema['enum']) return;
    const mark = schema['x-name'];
    if (mark !== 'given' && mark !== 'known') found.add(`${at} needs x-name`);
    else if (mark === 'given' && !(String(schema['format']) in nameFormats) && !at.endsWith('/tiers')) {
      found.add(`${at} needs a format of names`);
    }
  }

  for (const item of Object.values(contract.paths)) {
    for (const operation of Object.values(item)) {
      const { operationId, requestBody } = operation as {
        operationId?: string;
        requestBody?: { content: Record<string, { schema?: Schema }> };
      };
      for (const { schema } of Object.values(requestBody?.content ?? {})) {
        seen.clear();
        if (schema) visit(schema, operationId!);
      }
    }
  }
  return [...found];
}
