import type { TestService } from '../../support/service.ts';

/** Removes every row of a deleted application, as housekeeping on any node may do at any moment. */
export async function clearApplication({ database: { knex } }: TestService, appId: string): Promise<void> {
  for (let round = 0; round < 50; round++) {
    for (const table of ['sessions', 'licenses', 'users'])
      await knex(table).where({ app_id: appId }).delete();
    // A registration that was under way may have left a user in the meantime.
    const cleared = await knex('applications')
      .where({ app_id: appId })
      .whereNotNull('deleted_at')
      .delete()
      .catch(() => 0);
    if (cleared === 1) return;
  }
  throw new Error(`${appId} cannot be cleared`);
}
