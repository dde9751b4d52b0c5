import type { IncomingMessage } from 'node:http';
import type { Operation } from 'openapi-backend';
import type { Client } from '../../platform/address.ts';

/** What the client's token must be for: the API, or MCP, whose tools call operations of the API. */
export type Resource = 'api' | 'mcp';

/** A request to an operation, and what becomes known of it until its response. */
export interface Exchange {
  readonly operation: Operation;
  readonly request: IncomingMessage;
  /** The path of the request, one of the contract's. */
  readonly path: string;
  /** The query string, without its question mark. */
  readonly search: string;
  readonly client: Client;
  /** The API when undefined. */
  readonly resource?: Resource;
  /** Headers of the response, whether it is a success or an error. */
  readonly responseHeaders: Record<string, string>;
  /** The parsed body, once it was read. */
  body?: unknown;
  /** The raw body, once it was read; of an upload with an `Idempotency-Key` its SHA-256. */
  bytes?: Buffer;
}
