import type { components } from '../../generated/types.ts';
import type { UserQuery, UserRecord } from '../../src/licensing/users/users.ts';

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
  endsAt,
  periods,
}: UserRecord['subscription']): components['schemas']['User']['subscription'] {
  const active = standing.status === 'active' ? standing : undefined;
  return {
    subscription_status: standing.status,
    tier: active?.tier ?? null,
    expires_at: active?.expiresAt.toISOString() ?? null,
    ends_at: endsAt?.toISOString() ?? null,
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
  readonly subscription?: components['schemas']['UserSubscriptionStatus'];
  readonly expires_since?: string;
  readonly expires_until?: string;
  readonly sort?: components['schemas']['UserSort'];
}): UserQuery {
  const date = (text?: string) => (text === undefined ? undefined : new Date(text));
  return {
    q: query.q,
    banned: query.banned,
    tier: query.tier,
    hwidBound: query.hwid_bound,
    createdSince: date(query.created_since),
    createdUntil: date(query.created_until),
    subscription: query.subscription,
    expiresSince: date(query.expires_since),
    expiresUntil: date(query.expires_until),
    sort: query.sort,
  };
}
