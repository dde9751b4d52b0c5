import type { Knex } from 'knex';

/**
 * A column `suspended_at` for a query of a credential: since when its developer is suspended. So a credential is
 * found and checked in one statement.
 * @param owner the column with the id of the developer, which may be null
 */
export function suspensionOf(db: Knex, owner: string): Knex.Raw {
  return db.raw('(select d.suspended_at from developers as d where d.developer_id = ??) as suspended_at', [
    owner,
  ]);
}

export interface SuspensionRow {
  readonly suspended_at: Date | null;
  readonly suspension_reason: string | null;
}

/** Locks a developer for update and reads their suspension. */
export async function lockSuspensionForUpdate(
  trx: Knex.Transaction,
  developerId: string,
): Promise<SuspensionRow | undefined> {
  return trx<SuspensionRow & { developer_id: string }>('developers')
    .where({ developer_id: developerId })
    .forNoKeyUpdate()
    .first('suspended_at', 'suspension_reason');
}

/** Locks a developer for share and reads since when they are suspended. */
export async function lockSuspensionForShare(
  trx: Knex.Transaction,
  developerId: string,
): Promise<Date | null> {
  const row = await trx<SuspensionRow & { developer_id: string }>('developers')
    .where({ developer_id: developerId })
    .forShare()
    .first('suspended_at');
  return row?.suspended_at ?? null;
}

/** Suspends a developer, or reinstates one with null. The time of a suspension stays. */
export async function updateSuspension(
  trx: Knex.Transaction,
  developerId: string,
  suspension: { readonly at: Date; readonly reason: string | null } | null,
): Promise<void> {
  await trx('developers')
    .where({ developer_id: developerId })
    .update({
      suspended_at: suspension && trx.raw('coalesce(suspended_at, ?)', [suspension.at]),
      suspension_reason: suspension && suspension.reason,
    });
}
