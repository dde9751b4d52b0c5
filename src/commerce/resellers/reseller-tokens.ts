import type { Knex } from 'knex';
import type { ApiToken, ApiTokens, NewApiToken } from '../../accounts/api-tokens/api-tokens.ts';
import type { Scope } from '../../accounts/developers/developers.ts';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Page, PageRequest } from '../../foundation/paging/page.ts';
import { findOwned } from './owned-resellers.ts';

/** The API tokens of a developer's resellers. */
export interface ResellerTokens {
  /** @throws ApiError RESELLER_NOT_FOUND and those of ApiTokens.create */
  createToken(
    actor: Actor,
    held: readonly Scope[],
    resellerId: string,
    wanted: NewApiToken,
  ): Promise<{ readonly apiToken: ApiToken; readonly token: string }>;
  /** @throws ApiError RESELLER_NOT_FOUND */
  listTokens(developerId: string, resellerId: string, page: PageRequest): Promise<Page<ApiToken>>;
  /** @throws ApiError RESELLER_NOT_FOUND, TOKEN_NOT_FOUND */
  revokeToken(actor: Actor, resellerId: string, tokenId: string): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly apiTokens: Pick<ApiTokens, 'create' | 'list' | 'revoke'>;
}

export function createResellerTokens({ knex, apiTokens }: Dependencies): ResellerTokens {
  return {
    async createToken(actor, held, resellerId, wanted) {
      await findOwned(knex, actor.developerId, resellerId);
      return apiTokens.create(actor, held, wanted, resellerId);
    },

    async listTokens(developerId, resellerId, page) {
      await findOwned(knex, developerId, resellerId);
      return apiTokens.list(developerId, resellerId, page);
    },

    async revokeToken(actor, resellerId, tokenId) {
      await findOwned(knex, actor.developerId, resellerId);
      await apiTokens.revoke(actor, tokenId, resellerId);
    },
  };
}
