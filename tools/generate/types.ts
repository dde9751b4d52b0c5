import openapiTS, { type OpenAPI3, astToString } from 'openapi-typescript';
import type { Contract } from './document.ts';
import { BANNER } from './standalone.ts';

/** TypeScript types of the contract. */
export async function types(contract: Contract): Promise<string> {
  const ast = await openapiTS(structuredClone(contract) as unknown as OpenAPI3, {
    // Bodies get no defaults filled in, so a field with one may still be absent.
    defaultNonNullable: false,
    silent: true,
  });
  return BANNER + astToString(ast);
}
