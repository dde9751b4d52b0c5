import type { Addresses } from '../../foundation/addresses/addresses.ts';

/** What the contract says, as far as discovery reads it. */
export interface ContractDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly paths?: Readonly<Record<string, object | undefined>>;
}

/** An operation of the contract with the marks that discovery reads. */
export interface MarkedOperation {
  readonly operationId: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
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
  /** The contract, at the address where it is served. */
  readonly contract: () => ContractDocument;
  /** The MCP endpoint: its tools as it lists them, and the versions of the protocol that it speaks. */
  readonly mcp: {
    readonly tools: readonly object[];
    readonly protocolVersions: () => Promise<readonly string[]>;
  };
  /** What the authorization server says of itself. */
  readonly authorizationServer: () => Promise<ServerMetadata>;
  /** Whether agents may bring assertions of an issuer. */
  readonly trustsIssuers: boolean;
  /** The event that tells of an agent's revocation. */
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
