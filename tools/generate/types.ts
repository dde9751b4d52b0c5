import openapiTS, { type OpenAPI3, astToString } from 'openapi-typescript';
import type { Contract } from './document.ts';
import { BANNER } from './standalone.ts';

/**
 * TypeScript types of the contract. The contract lets clients expect unknown members, but the service must not send
 * any, so the types name all members.
 */
export async function types(contract: Contract): Promise<string> {
  const ast = await openapiTS(withoutUnknownMembers(contract) as unknown as OpenAPI3, {
    // Bodies get no defaults filled in, so a field with one may still be absent.
    defaultNonNullable: false,
    silent: true,
  });
  return BANNER + astToString(ast);
}

/** The contract without `additionalProperties: true` where a schema names members, also as the parts of another one. */
function withoutUnknownMembers(contract: Contract): Contract {
  return JSON.parse(JSON.stringify(contract), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    if (!('properties' in value) && !('allOf' in value)) return value;
    const { additionalProperties, ...closed } = value as { additionalProperties?: unknown };
    return additionalProperties === true ? closed : value;
  }) as Contract;
}
