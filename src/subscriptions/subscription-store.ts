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
  await trx('subscriptions').where({ user_id: userId }).delete();
  await trx('subscriptions').insert(timeline.map((stretch) => ({ ...stretch, user_id: userId })));
}
