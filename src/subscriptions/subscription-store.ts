import type { Knex } from 'knex';
import type { Stretch } from './subscription-state.ts';

export async function findTimeline(db: Knex, userId: string): Promise<Stretch[]> {
  return db('subscriptions').where({ user_id: userId }).select('tier', 'starts_at', 'ends_at');
}

export async function replaceTimeline(
  trx: Knex.Transaction,
  userId: string,
  timeline: readonly Stretch[],
): Promise<void> {
  await replaceTimelines(trx, new Map([[userId, timeline]]));
}

/**
 * Holds the rows of users until the transaction ends, in the order of their ids, so that two who hold several never wait for
 * each other.
 * @param nowait fails at once where somebody else holds one
 */
export async function lockUsers(
  trx: Knex.Transaction,
  userIds: readonly string[],
  { nowait = false } = {},
): Promise<void> {
  await trx.raw(
    `select 1 from users where user_id = any(?::text[]) order by user_id for no key update${nowait ? ' nowait' : ''}`,
    [userIds] as Knex.RawBinding[],
  );
}

/** The timelines of users; a user without one has none in it. */
export async function findTimelines(db: Knex, userIds: readonly string[]): Promise<Map<string, Stretch[]>> {
  const rows = await db<Stretch & { user_id: string }>('subscriptions')
    .whereRaw('user_id = any(?::text[])', [userIds as string[]])
    .select('user_id', 'tier', 'starts_at', 'ends_at');
  return Map.groupBy(rows, ({ user_id }) => user_id);
}

/** Replaces whole timelines, in two statements for all of them. */
export async function replaceTimelines(
  trx: Knex.Transaction,
  timelines: ReadonlyMap<string, readonly Stretch[]>,
): Promise<void> {
  await trx('subscriptions')
    .whereRaw('user_id = any(?::text[])', [[...timelines.keys()]])
    .delete();
  await insertTimelines(trx, timelines);
}

/** Gives many users their first timeline. */
export async function insertTimelines(
  trx: Knex.Transaction,
  timelines: ReadonlyMap<string, readonly Stretch[]>,
): Promise<void> {
  const rows = [...timelines].flatMap(([userId, stretches]) =>
    stretches.map((stretch) => ({ ...stretch, userId })),
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
