import type { Knex } from 'knex';

/** Each batch is a transaction of its own, so that no user is locked for long. */
export const config = { transaction: false };

const BATCH = 1000;

/** Fills the column for subscriptions from before its trigger. A repetition changes nothing. */
export async function up(knex: Knex): Promise<void> {
  for (let after = ''; ;) {
    const { rows } = await knex.raw<{ rows: { user_id: string }[] }>(
      'select distinct user_id from subscriptions where user_id > ? order by user_id limit ?',
      [after, BATCH],
    );
    if (rows.length === 0) return;
    const userIds = rows.map(({ user_id }) => user_id);
    await knex.transaction((trx) => fill(trx, userIds));
    after = userIds.at(-1)!;
  }
}

async function fill(trx: Knex.Transaction, userIds: readonly string[]): Promise<void> {
  // Locked by a statement of its own: the next one then reads subscriptions as the last holder of the lock left them.
  await trx.raw('select 1 from users where user_id = any (?::text[]) order by user_id for no key update', [
    [...userIds],
  ]);
  await trx.raw(
    `update users u set subscription_ends_at = s.ends_at
     from (
       select user_id, max(ends_at) as ends_at from subscriptions where user_id = any (?::text[]) group by user_id
     ) s
     where u.user_id = s.user_id and u.subscription_ends_at <> s.ends_at`,
    [[...userIds]],
  );
}

export async function down(): Promise<void> {}
