import { type Contract, operationsOf, resolve } from './generate/document.ts';

/** Classes of common languages and libraries, which a generated client would hide. */
const TAKEN = new Set(
  (
    'Array Boolean Buffer Date Error Event Exception File Function List Map Name Number Object Option ' +
    'Promise Request Response Result Role Scope Session Set String Success Task Thread Type'
  ).split(' '),
);
const OF_BODIES = /(?:Request|Result|List)$/;

interface Body {
  readonly content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>>;
}

/**
 * Schemas whose names would puzzle users of a generated client: JSON bodies of requests end in `Request`, those of
 * successes in `Result` or, for lists, in `List`; nothing else does, and no name is that of a common class.
 */
export function puzzlingNames(contract: Contract): string[] {
  const found: string[] = [];
  const bodies = new Set<string>();

  function check(body: Body | undefined, endings: RegExp, what: string): void {
    const { schema } = body?.content?.['application/json'] ?? {};
    if (!schema) return;
    const name = schema.$ref?.split('/').at(-1);
    if (!name || !endings.test(name)) found.push(`${what} has the schema ${name ?? 'without a name'}`);
    else bodies.add(name);
  }

  for (const operation of operationsOf(contract)) {
    const { operationId, responses, requestBody } = operation as typeof operation & { requestBody?: Body };
    check(requestBody, /Request$/, `the request of ${operationId}`);
    for (const [status, response] of Object.entries(responses)) {
      if (status.startsWith('2')) {
        check(resolve(contract, response), /(?:Result|List)$/, `the response ${status} of ${operationId}`);
      }
    }
  }

  for (const name of Object.keys(contract.components?.schemas ?? {})) {
    if (TAKEN.has(name)) found.push(`${name} is the name of a common class`);
    if (OF_BODIES.test(name) && !bodies.has(name)) found.push(`${name} is not the body of an operation`);
  }
  return found;
}
