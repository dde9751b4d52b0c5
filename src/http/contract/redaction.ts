import type { Operation } from 'openapi-backend';

/** Replaces a value that must not be visible. */
export const REDACTED = '[redacted]';

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly 'x-redact'?: boolean;
}

/**
 * The part of a value that may be shown: members that the contract names and does not mark `x-redact`. All others are
 * left out, because a mistyped member may contain a secret.
 */
export function redact(schema: Schema | undefined, value: unknown): unknown {
  if (schema === undefined) return undefined;
  if (schema['x-redact']) return REDACTED;
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((item) => redact(schema.items, item));
  if (typeof value === 'object' && value !== null) {
    const members = membersOf(schema);
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => Object.hasOwn(members, name))
        .map(([name, member]) => [name, redact(members[name], member)]),
    );
  }
  // The value is an object where the contract has a scalar, or the other way round.
  return schema.properties || schema.items || schema.allOf ? undefined : value;
}

function membersOf(schema: Schema): Readonly<Record<string, Schema>> {
  return Object.assign({}, ...(schema.allOf ?? []).map(membersOf), schema.properties) as Record<
    string,
    Schema
  >;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

/** The schema of an operation's request body, with references resolved. */
export function requestSchema(operation: Operation): Schema | undefined {
  return (operation.requestBody as Content | undefined)?.content?.['application/json']?.schema;
}

/** The schema of an operation's response for a status, with references resolved. */
export function responseSchema(operation: Operation, status: number): Schema | undefined {
  const response = operation.responses?.[status] as Content | undefined;
  return response?.content?.['application/json']?.schema;
}
