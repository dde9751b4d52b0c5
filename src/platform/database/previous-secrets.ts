import type { Knex } from 'knex';

/** A table whose rows keep the secret before the current one for a while. */
export interface PreviousSecrets {
  readonly table: string;
  /** The primary key. */
  readonly id: string;
  /** The column that says until when. */
  readonly until: string;
}

/** Deletes secrets whose overlap is over. @returns how many */
export async function clearPreviousSecrets(
  db: Knex,
  { table, id, until }: PreviousSecrets,
  now: Date,
  limit: number,
): Promise<number> {
  const some = db(table).where(until, '<=', now).limit(limit).select(id);
  return (
    db(table)
      .whereIn(id, some)
      // Asked twice, because a secret may be rotated while its row is waited for.
      .where(until, '<=', now)
      .update({ previous_secret_sealed: null, [until]: null })
  );
}
