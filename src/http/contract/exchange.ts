import type { IncomingMessage } from 'node:http';
import type { Operation } from 'openapi-backend';
import type { ClientTrust } from '../../foundation/client-trust/client-trust.ts';
import type { Client } from '../../platform/address.ts';
import type { ClientTrustHeaders } from '../transport/client-trust-headers.ts';

/** The audience that the client's token needs: the API, or MCP, whose tools call operations of the API. */
export type Resource = 'api' | 'mcp';

/** A request to an operation, with the state that it collects until its response. */
export interface Exchange {
  readonly operation: Operation;
  readonly request: IncomingMessage;
  /** The path of the request, one of the contract's paths. */
  readonly path: string;
  /** The query string, without its question mark. */
  readonly search: string;
  readonly client: Client;
  /** The API when undefined. */
  readonly resource?: Resource;
  /** Headers of the response, whether it is a success or an error. */
  readonly responseHeaders: Record<string, string>;
  /** What the request says about its program; undefined if it requests no signed response. */
  trustHeaders?: ClientTrustHeaders | undefined;
  /** The same once it is checked. */
  trust?: ClientTrust | undefined;
  /** The parsed body, once it has been read. */
  body?: unknown;
  /** The raw body, once it has been read; for an upload with an `Idempotency-Key`, its SHA-256. */
  bytes?: Buffer;
}
