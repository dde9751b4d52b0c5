import Negotiator from 'negotiator';
import type { Operation } from 'openapi-backend';

/**
 * The media type of a successful response that a client prefers (RFC 9110, section 12.5.1), of those that the contract
 * declares: the first of them when the client accepts none.
 */
export function negotiate(operation: Operation, accept: string | undefined): string {
  const declared = mediaTypesOf(operation);
  const [first = 'application/json'] = declared;
  if (declared.length < 2 || accept === undefined) return first;
  return new Negotiator({ headers: { accept } }).mediaType([...declared]) ?? first;
}

const known = new WeakMap<Operation, readonly string[]>();

function mediaTypesOf(operation: Operation): readonly string[] {
  const before = known.get(operation);
  if (before) return before;
  const successes = Object.entries(operation.responses ?? {}).filter(([status]) => status.startsWith('2'));
  const found = [
    ...new Set(
      successes.flatMap(([, response]) => Object.keys((response as { content?: object }).content ?? {})),
    ),
  ];
  known.set(operation, found);
  return found;
}
