import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client } from '../../platform/address.ts';
import type { RequestScope } from '../../platform/request-scope.ts';
import type { Exchange } from '../contract/exchange.ts';
import type { Route } from './route.ts';

/** What is known about a request, from its arrival until its response is counted and logged. */
export interface RequestContext {
  readonly requestId: string;
  readonly client: Client;
  /** From the clock of the metrics. */
  readonly startedAt: number;
  /** Undefined when the connection sent no complete head of a request. */
  readonly request: IncomingMessage | undefined;
  /** Undefined when Node did not emit the request. */
  readonly route: Route | undefined;
  /** The call of an operation, over HTTP or as a tool of MCP. */
  exchange: Exchange | undefined;
  /** Shared by all work for the request; undefined when none has begun. */
  scope: RequestScope | undefined;
  /** Whether the response was counted and logged. */
  isRecorded: boolean;
}

/** The context of a request that Node has emitted with a response. */
export interface ArrivedRequest extends RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
}
