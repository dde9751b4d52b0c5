import { OpenAPIRouter } from 'openapi-backend';
import type { Document, Operation, ParsedRequest, Request } from 'openapi-backend';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Client } from '../../platform/address.ts';
import { withScalars, type TextQuery } from './query.ts';

/** An already parsed request in the form that openapi-backend expects. */
export interface ContractRequest extends Request {
  /** The operation of the request, already resolved. */
  readonly operation: Operation;
  /** In lower case. */
  method: string;
  /** Without the query string, exactly as it was sent. */
  path: string;
  query: TextQuery;
  /** The parsed body; undefined for a request without one. */
  requestBody?: unknown;
  /** A body that is not JSON. */
  upload?: AsyncIterable<Uint8Array>;
  readonly client: Client;
  /** The signer of the request; undefined when it is not signed. */
  signer?: unknown;
  /** What the signature of the response covers, on operations that accept signatures. */
  signable?: unknown;
}

interface Template {
  readonly segments: readonly string[];
  readonly operations: ReadonlyMap<string, Operation>;
}

/**
 * Routes with tables that are built once. Paths match exactly: a trailing slash, a doubled slash or a percent-encoded
 * letter makes a different path.
 */
export class TableRouter extends OpenAPIRouter {
  readonly #operations: Operation[];
  readonly #byId: Map<string, Operation>;
  readonly #literal = new Map<string, Map<string, Operation>>();
  readonly #templates: Template[] = [];

  constructor(definition: Document) {
    super({ definition, ignoreTrailingSlashes: false });
    this.#operations = super.getOperations();
    this.#byId = new Map(this.#operations.map((operation) => [operation.operationId!, operation]));
    const byPath = Map.groupBy(this.#operations, ({ path }) => path);
    for (const [path, atPath] of byPath) {
      const operations = new Map(atPath.map((operation) => [operation.method.toUpperCase(), operation]));
      if (path.includes('{')) this.#templates.push({ segments: path.split('/'), operations });
      else this.#literal.set(path, operations);
    }
  }

  override getOperations(): Operation[] {
    return this.#operations;
  }

  override getOperation(operationId: string): Operation | undefined {
    return this.#byId.get(operationId);
  }

  /** The operations at a path by their method in upper case; undefined when the contract has no such path. */
  operationsAt(path: string): ReadonlyMap<string, Operation> | undefined {
    const literal = this.#literal.get(path);
    if (literal || !path.startsWith('/api/')) return literal;
    const segments = path.split('/');
    return this.#templates.find((template) => matches(template.segments, segments))?.operations;
  }

  override matchOperation(request: Request, strict?: boolean): Operation | undefined;
  override matchOperation(request: Request, strict: true): Operation;
  override matchOperation(request: Request): Operation | undefined {
    return (request as ContractRequest).operation;
  }

  /** The request is already parsed: once its operation is known, the missing parts are added in place. */
  override parseRequest(request: Request, operation?: Operation): ParsedRequest {
    const parsed = request as ContractRequest & ParsedRequest;
    if (operation && parsed.params === undefined) {
      parsed.params = pathParameters(operation.path, parsed.path);
      parsed.query = withScalars(parsed.query, operation) as ParsedRequest['query'];
    }
    return parsed;
  }
}

function matches(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((part, index) =>
      part.startsWith('{') ? segments[index] !== '' : part === segments[index],
    )
  );
}

/** @throws ApiError MALFORMED_REQUEST for a path that is not percent-encoded UTF-8 */
function pathParameters(template: string, path: string): Record<string, string> {
  if (!template.includes('{')) return {};
  const segments = path.split('/');
  const parameters: Record<string, string> = {};
  template.split('/').forEach((part, index) => {
    if (part.startsWith('{')) parameters[part.slice(1, -1)] = decode(segments[index]!);
  });
  return parameters;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new ApiError('MALFORMED_REQUEST', { detail: 'The path is not percent-encoded UTF-8.', cause });
  }
}
