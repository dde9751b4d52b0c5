import type { components } from '../../generated/types.ts';
import type { UserFilter, UserRecord } from '../../src/licensing/users/users.ts';

/** A user as the contract shows them. */
export function toUser(user: UserRecord): components['schemas']['User'] {
  return {
    user_id: user.userId,
    username: user.username,
    email: user.email,
    role: user.role,
    password_state: user.passwordState,
    hwid_bound: user.hwidBound,
    hwid_reset_at: user.hwidResetAt?.toISOString() ?? null,
    subscription: toSubscription(user.subscription),
    live_sessions: user.liveSessions,
    ban: user.ban && {
      ban_id: user.ban.banId,
      reason: user.ban.reason,
      expires_at: user.ban.expiresAt?.toISOString() ?? null,
      created_at: user.ban.createdAt.toISOString(),
    },
    created_at: user.createdAt.toISOString(),
  };
}

function toSubscription({
  standing,
  periods,
}: UserRecord['subscription']): components['schemas']['User']['subscription'] {
  const active = standing.status === 'active' ? standing : undefined;
  return {
    subscription_status: standing.status,
    tier: active?.tier ?? null,
    expires_at: active?.expiresAt.toISOString() ?? null,
    periods: periods.map(({ tier, startsAt, expiresAt }) => ({
      tier,
      starts_at: startsAt.toISOString(),
      expires_at: expiresAt.toISOString(),
    })),
  };
}

/** The users that a query selects. */
export function toFilter(query: {
  readonly q?: string;
  readonly banned?: boolean;
  readonly tier?: string;
  readonly hwid_bound?: boolean;
  readonly created_since?: string;
  readonly created_until?: string;
}): UserFilter {
  return {
    q: query.q,
    banned: query.banned,
    tier: query.tier,
    hwidBound: query.hwid_bound,
    createdSince: query.created_since === undefined ? undefined : new Date(query.created_since),
    createdUntil: query.created_until === undefined ? undefined : new Date(query.created_until),
  };
}
