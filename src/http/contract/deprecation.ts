import type { Operation } from 'openapi-backend';

/** A deprecated API works for another 365 days. */
const LIFECYCLE_MS = 365 * 24 * 60 * 60 * 1000;

/** The extensions of a deprecated operation in the contract. */
interface Marks {
  readonly deprecated?: boolean;
  /** ISO 8601. */
  readonly 'x-deprecated-at'?: string;
  /** The operationId of the replacement. */
  readonly 'x-successor'?: string;
}

/** A deprecated operation and its dates. */
export interface Deprecated {
  readonly operationId: string;
  readonly path: string;
  readonly since: Date;
  readonly sunset: Date;
  readonly successorPath: string;
}

/**
 * The deprecated operations of the contract.
 * @throws Error when an operation has only some of the extensions
 */
export function deprecatedOperations(operations: readonly Operation[]): Deprecated[] {
  const pathOf = new Map(operations.map(({ operationId, path }) => [operationId, path]));
  return operations
    .filter((operation) => (operation as Marks).deprecated)
    .map((operation) => {
      const { 'x-deprecated-at': at = '', 'x-successor': successor } = operation as Marks;
      const since = new Date(at);
      const successorPath = pathOf.get(successor);
      if (Number.isNaN(since.getTime()) || successorPath === undefined) {
        throw new Error(`${operation.operationId} is deprecated without x-deprecated-at or x-successor`);
      }
      const sunset = new Date(since.getTime() + LIFECYCLE_MS);
      return { operationId: operation.operationId!, path: operation.path, since, sunset, successorPath };
    });
}

/**
 * Headers of every response of a deprecated operation: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` (RFC
 * 8288) with the relations `deprecation`, `sunset` and `successor-version`.
 */
export function deprecationHeaders(
  { operationId, since, sunset, successorPath }: Deprecated,
  baseUrl: string,
  webUrl: string,
): Record<string, string> {
  const page = `${webUrl}/deprecations#${operationId}`;
  return {
    Deprecation: `@${Math.floor(since.getTime() / 1000)}`,
    Sunset: sunset.toUTCString(),
    Link: [
      `<${page}>; rel="deprecation"; type="text/html"`,
      `<${page}>; rel="sunset"; type="text/html"`,
      `<${baseUrl}${successorPath}>; rel="successor-version"`,
    ].join(', '),
  };
}
