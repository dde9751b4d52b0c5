import type { components } from '../../generated/types.ts';
import type { Ban } from '../../src/licensing/bans/bans.ts';

/** A ban as the contract shows it. */
export function toBan(ban: Ban): components['schemas']['Ban'] {
  return {
    ban_id: ban.banId,
    kind: ban.kind,
    user_id: ban.userId,
    network: ban.network,
    reason: ban.reason,
    expires_at: ban.expiresAt?.toISOString() ?? null,
    created_at: ban.createdAt.toISOString(),
  };
}
