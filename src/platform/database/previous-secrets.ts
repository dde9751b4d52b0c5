import type { Knex } from 'knex';

/** A table whose rows keep the previous secret during the overlap after a rotation. */
export interface PreviousSecrets {
  readonly table: string;
  /** The primary key. */
  readonly id: string;
  /** The column with the end of the overlap. */
  readonly until: string;
}

/** Deletes previous secrets whose overlap has ended. @returns how many */
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
      // Checked again after locking, because a secret may be rotated while its row is locked.
      .where(until, '<=', now)
      .update({ previous_secret_sealed: null, [until]: null })
  );
}
