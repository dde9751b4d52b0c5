import type { Operation } from 'openapi-backend';

/** An API lives on for 365 days after it was deprecated. */
const LIFECYCLE_MS = 365 * 24 * 60 * 60 * 1000;

/** The marks of a deprecated operation in the contract. */
interface Marks {
  readonly deprecated?: boolean;
  /** ISO 8601. */
  readonly 'x-deprecated-at'?: string;
  /** The operationId that takes over. */
  readonly 'x-successor'?: string;
}

/** An operation that will be gone. */
export interface Deprecated {
  readonly operationId: string;
  readonly path: string;
  readonly since: Date;
  readonly sunset: Date;
  readonly successorPath: string;
}

/**
 * The deprecated operations of the contract.
 * @throws Error when the marks of one do not belong together
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
 * Headers of every answer of a deprecated operation: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` (RFC 8288)
 * with the relations `deprecation`, `sunset` and `successor-version`.
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
