import type { Knex } from 'knex';

/** Waits for the lock of a name and holds it alone until the transaction ends. */
export async function lockExclusive(trx: Knex.Transaction, name: string): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [name]);
}

/** Holds the lock of a name alone until the transaction ends. @returns false at once when somebody else holds it */
export async function tryLockExclusive(trx: Knex.Transaction, name: string): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: { held: boolean }[] }>(
    'select pg_try_advisory_xact_lock(hashtextextended(?, 0)) as held',
    [name],
  );
  return rows[0]!.held;
}

/** Waits for the lock of a name and holds it, beside others who share it, until the transaction ends. */
export async function lockShared(trx: Knex.Transaction, name: string): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock_shared(hashtextextended(?, 0))', [name]);
}

/**
 * Runs work that only one process at a time may do, in a transaction that holds the lock of a name. The lock is the
 * database's own: it ends with the transaction, however that ends.
 */
export async function withAdvisoryLock<Result>(
  knex: Knex,
  name: string,
  work: (trx: Knex.Transaction) => Promise<Result>,
): Promise<Result> {
  return knex.transaction(async (trx) => {
    await lockExclusive(trx, name);
    return work(trx);
  });
}
