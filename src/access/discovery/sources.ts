import type { Addresses } from '../../foundation/addresses/addresses.ts';

/** The parts of the contract that discovery reads. */
export interface ContractDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly paths?: Readonly<Record<string, object | undefined>>;
}

/** An operation of the contract with the extensions that discovery reads. */
export interface MarkedOperation {
  readonly operationId: string;
  readonly 'x-bearer-token'?: string;
  readonly 'x-scopes'?: readonly string[];
  readonly 'x-mcp-tool'?: object;
}

/** Metadata of an authorization server (RFC 8414). */
export type ServerMetadata = Readonly<Record<string, unknown>> & {
  readonly issuer: string;
  readonly scopes_supported?: readonly string[];
};

/** What the published documents are built from. */
export interface Sources {
  readonly addresses: Addresses;
  /** The contract as it is served. */
  readonly contract: () => ContractDocument;
  /** The MCP endpoint: its tools as it lists them, and its protocol versions. */
  readonly mcp: {
    readonly tools: readonly object[];
    readonly protocolVersions: () => Promise<readonly string[]>;
  };
  /** The authorization server's own metadata. */
  readonly authorizationServer: () => Promise<ServerMetadata>;
  /** Whether any issuer of assertions is trusted. */
  readonly trustsIssuers: boolean;
  /** The event type of an agent's revocation. */
  readonly agentRevoked: () => string;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

/** The operations of the contract, in its order. */
export function operationsOf({ paths }: ContractDocument): MarkedOperation[] {
  return Object.values(paths ?? {}).flatMap((item) =>
    Object.entries(item ?? {}).flatMap(([method, operation]) =>
      METHODS.includes(method) ? [operation as MarkedOperation] : [],
    ),
  );
}
