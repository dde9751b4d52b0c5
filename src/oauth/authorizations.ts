import type { Actor } from '../audit/audit.ts';
import type { Page, PageRequest } from '../paging/page.ts';

/** What a developer has let a client do: a grant. */
export interface Authorization {
  readonly authorizationId: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface Authorizations {
  list(developerId: string, page: PageRequest): Promise<Page<Authorization>>;
  /** Ends an authorization with all its tokens, on every node. @throws ApiError AUTHORIZATION_NOT_FOUND */
  revoke(actor: Actor, authorizationId: string): Promise<void>;
  /** Deletes some of what the authorization server need not remember any more. @returns how many */
  clearExpired(): Promise<number>;
}

export function createAuthorizations(): Authorizations {
  const pending = (): never => {
    throw new Error('not built');
  };
  return { list: async () => ({ data: [], nextCursor: null }), revoke: pending, clearExpired: async () => 0 };
}
