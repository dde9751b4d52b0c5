import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Client } from '../../platform/address.ts';
import type { Contract } from '../contract/contract.ts';
import type { Exchange } from '../contract/exchange.ts';
import { toOperationRequest, type Arguments } from './request.ts';
import type { ContractTool } from './tools.ts';

/** The caller of a tool. */
export interface Caller {
  /** The header of the request to MCP. */
  readonly authorization: string;
  readonly client: Client;
}

/** Turns tool calls into exchanges: a call runs its operation exactly as an HTTP request would. */
export function createExchangeFactory(contract: Contract) {
  /**
   * @param key the idempotency key, when it is not among the arguments
   * @throws ApiError VALIDATION_FAILED for arguments that do not fit into a request
   */
  return function toExchange(
    tool: ContractTool,
    args: Arguments,
    key: unknown,
    { authorization, client }: Caller,
  ): Exchange {
    const made = toOperationRequest(tool, args, { authorization, key });
    const operation = contract.operationsAt(made.path)?.get(tool.method);
    // An identifier such as `export` would turn into the path of another operation.
    if (operation?.operationId !== tool.operationId) {
      const names = [...tool.places].filter(([, place]) => place === 'path').map(([name]) => name);
      const errors = [{ pointer: names.at(-1) ?? '', detail: 'must be an identifier' }];
      throw new ApiError('VALIDATION_FAILED', { detail: 'An argument is not valid.', errors });
    }
    return { ...made, operation, client, resource: 'mcp', responseHeaders: {} };
  };
}

/** Whether an error is for the client that has the token and the connection, not for the agent that made the call. */
export function concernsClient({ code, status }: ApiError): boolean {
  return status >= 500 || code === 'UNAUTHORIZED' || code === 'INSUFFICIENT_SCOPE';
}
