import type { components } from '../../generated/types.ts';
import type { ApiToken } from '../../src/accounts/api-tokens/api-tokens.ts';

/** An API token as the contract shows it. */
export function toApiToken(token: ApiToken): components['schemas']['ApiToken'] {
  return {
    token_id: token.tokenId,
    name: token.name,
    scopes: [...token.scopes],
    expires_at: token.expiresAt?.toISOString() ?? null,
    created_at: token.createdAt.toISOString(),
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
  };
}
