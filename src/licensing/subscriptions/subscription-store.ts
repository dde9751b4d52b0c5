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

/** Replaces whole timelines, in two statements for all of them. */
export async function replaceTimelines(
  trx: Knex.Transaction,
  timelines: ReadonlyMap<string, readonly SubscriptionPeriod[]>,
): Promise<void> {
  await trx('subscriptions')
    .whereRaw('user_id = any(?::text[])', [[...timelines.keys()]])
    .delete();
  await insertTimelines(trx, timelines);
}

/** Inserts the first timelines of many users. */
export async function insertTimelines(
  trx: Knex.Transaction,
  timelines: ReadonlyMap<string, readonly SubscriptionPeriod[]>,
): Promise<void> {
  const rows = [...timelines].flatMap(([userId, periods]) =>
    periods.map((period) => ({ ...period, userId })),
  );
  if (rows.length === 0) return;
  await trx.raw(
    `insert into subscriptions (user_id, tier, starts_at, ends_at)
     select * from unnest(?::text[], ?::text[], ?::timestamptz[], ?::timestamptz[])`,
    [
      rows.map(({ userId }) => userId),
      rows.map(({ tier }) => tier),
      rows.map(({ starts_at: startsAt }) => startsAt.toISOString()),
      rows.map(({ ends_at: endsAt }) => endsAt.toISOString()),
    ],
  );
}
