import type { Actor } from '../audit/audit.ts';
import type { Page, PageRequest } from '../paging/page.ts';

export type GrantType =
  | 'authorization_code'
  | 'refresh_token'
  | 'client_credentials'
  | 'urn:ietf:params:oauth:grant-type:device_code'
  | 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export type ClientScope =
  'openid' | 'email' | 'offline_access' | 'read' | 'write' | 'auth:dev' | 'agent:register' | 'agent:execute';

/** What a developer says of a client: metadata of RFC 7591, by our names. */
export interface ClientMetadata {
  readonly name: string;
  readonly applicationType: 'web' | 'native';
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  readonly grantTypes: readonly GrantType[];
  /** The most that it can ask for. */
  readonly scopes: readonly ClientScope[];
  readonly tokenEndpointAuthMethod: 'client_secret_basic' | 'client_secret_post' | 'none';
}

export interface OAuthClient extends ClientMetadata {
  readonly clientId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Clients of the authorization server that developers have registered. */
export interface OAuthClients {
  /**
   * @param held the scopes of the token that registers it
   * @returns the client with its secret, which is shown once; a public one has none
   * @throws ApiError INSUFFICIENT_SCOPE, VALIDATION_FAILED
   */
  create(
    actor: Actor,
    held: readonly string[],
    metadata: ClientMetadata,
  ): Promise<{ readonly client: OAuthClient; readonly secret: string | undefined }>;
  list(developerId: string, page: PageRequest): Promise<Page<OAuthClient>>;
  /** @throws ApiError CLIENT_NOT_FOUND */
  get(developerId: string, clientId: string): Promise<OAuthClient>;
  /** @throws ApiError CLIENT_NOT_FOUND, INSUFFICIENT_SCOPE, VALIDATION_FAILED */
  update(
    actor: Actor,
    held: readonly string[],
    clientId: string,
    changes: {
      readonly [Name in 'name' | 'redirectUris' | 'postLogoutRedirectUris' | 'scopes']?:
        ClientMetadata[Name] | undefined;
    },
  ): Promise<OAuthClient>;
  /** Deletes a client with all that it holds. @throws ApiError CLIENT_NOT_FOUND */
  delete(actor: Actor, clientId: string): Promise<void>;
  /** @throws ApiError CLIENT_NOT_FOUND; VALIDATION_FAILED of a public client */
  rotateSecret(actor: Actor, clientId: string): Promise<string>;
  /** Seals secrets anew under the current master key. @returns how many it found */
  reseal(): Promise<number>;
  /** Deletes some of those that registered themselves and were not used for 90 days. @returns how many */
  clearUnused(): Promise<number>;
}

export function createOAuthClients(): OAuthClients {
  const pending = (): never => {
    throw new Error('not built');
  };
  return {
    create: pending,
    list: async () => ({ data: [], nextCursor: null }),
    get: pending,
    update: pending,
    delete: pending,
    rotateSecret: pending,
    reseal: async () => 0,
    clearUnused: async () => 0,
  };
}
