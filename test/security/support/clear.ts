import type { TestService } from '../../support/service.ts';

/** Deletes every row of a deleted application, as housekeeping may do at any time. */
export async function clearApplication({ database: { knex } }: TestService, appId: string): Promise<void> {
  for (let round = 0; round < 50; round++) {
    for (const table of ['sessions', 'licenses', 'users'])
      await knex(table).where({ app_id: appId }).delete();
    // A concurrent registration may have added a user.
    const cleared = await knex('applications')
      .where({ app_id: appId })
      .whereNotNull('deleted_at')
      .delete()
      .catch(() => 0);
    if (cleared === 1) return;
  }
  throw new Error(`${appId} cannot be cleared`);
}
