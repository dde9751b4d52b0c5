import type { Knex } from 'knex';
import type { SubscriptionPeriod } from './subscription-state.ts';

export async function findTimeline(db: Knex, userId: string): Promise<SubscriptionPeriod[]> {
  return db('subscriptions').where({ user_id: userId }).select('tier', 'starts_at', 'ends_at');
}

export async function replaceTimeline(
  trx: Knex.Transaction,
  userId: string,
  timeline: readonly SubscriptionPeriod[],
): Promise<void> {
  await replaceTimelines(trx, new Map([[userId, timeline]]));
}

/** The timelines of users; users without a subscription are omitted. */
export async function findTimelines(
  db: Knex,
  userIds: readonly string[],
): Promise<Map<string, SubscriptionPeriod[]>> {
  const rows = await db<SubscriptionPeriod & { user_id: string }>('subscriptions')
    .whereRaw('user_id = any(?::text[])', [userIds as string[]])
    .select('user_id', 'tier', 'starts_at', 'ends_at');
  return Map.groupBy(rows, ({ user_id }) => user_id);
}

/**
 * Replaces whole timelines, in one statement for all of them: with two, the trigger that notes the end of each user's
 * subscription would write every user twice. The caller has locked the users in the order of their ids, because the
 * trigger locks them in any.
 */
export async function replaceTimelines(
  trx: Knex.Transaction,
  timelines: ReadonlyMap<string, readonly SubscriptionPeriod[]>,
): Promise<void> {
  await trx.raw(
    `with wanted as (
       select * from unnest(:userIds::text[], :tiers::text[], :starts::timestamptz[], :ends::timestamptz[])
         as w (user_id, tier, starts_at, ends_at)
     ), removed as (
       delete from subscriptions s
       where s.user_id = any (:replaced::text[])
         and not exists (select from wanted w where w.user_id = s.user_id and w.tier = s.tier)
     )
     insert into subscriptions (user_id, tier, starts_at, ends_at) select * from wanted
     on conflict (user_id, tier) do update set starts_at = excluded.starts_at, ends_at = excluded.ends_at`,
    { ...columnsOf(timelines), replaced: [...timelines.keys()] } as Record<string, Knex.RawBinding>,
  );
}

/** Inserts the first timelines of many users that the same transaction has inserted. */
export async function insertTimelines(
  trx: Knex.Transaction,
  timelines: ReadonlyMap<string, readonly SubscriptionPeriod[]>,
): Promise<void> {
  const columns = columnsOf(timelines);
  if (columns.userIds.length === 0) return;
  await trx.raw(
    `insert into subscriptions (user_id, tier, starts_at, ends_at)
     select * from unnest(:userIds::text[], :tiers::text[], :starts::timestamptz[], :ends::timestamptz[])`,
    columns as unknown as Record<string, Knex.RawBinding>,
  );
}

/** The columns of the periods of timelines. */
function columnsOf(timelines: ReadonlyMap<string, readonly SubscriptionPeriod[]>) {
  const rows = [...timelines].flatMap(([userId, periods]) =>
    periods.map((period) => ({ ...period, userId })),
  );
  return {
    userIds: rows.map(({ userId }) => userId),
    tiers: rows.map(({ tier }) => tier),
    starts: rows.map(({ starts_at: startsAt }) => startsAt.toISOString()),
    ends: rows.map(({ ends_at: endsAt }) => endsAt.toISOString()),
  };
}
