import type { Knex } from 'knex';

/** Waits for the exclusive advisory lock of a name and holds it until the transaction ends. */
export async function takeAdvisoryLock(trx: Knex.Transaction, name: string): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [name]);
}

/**
 * Tries to take the exclusive advisory lock of a name and holds it until the transaction ends.
 * @returns false at once if another transaction holds it
 */
export async function tryAdvisoryLock(trx: Knex.Transaction, name: string): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: { held: boolean }[] }>(
    'select pg_try_advisory_xact_lock(hashtextextended(?, 0)) as held',
    [name],
  );
  return rows[0]!.held;
}

/** Waits for the shared advisory lock of a name and holds it until the transaction ends. */
export async function takeSharedAdvisoryLock(trx: Knex.Transaction, name: string): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock_shared(hashtextextended(?, 0))', [name]);
}

/**
 * Runs work that only one process at a time may do, in a transaction that holds the advisory lock of a name. The
 * database releases the lock when the transaction ends, even if the process is killed.
 */
export async function withAdvisoryLock<Result>(
  knex: Knex,
  name: string,
  work: (trx: Knex.Transaction) => Promise<Result>,
): Promise<Result> {
  return knex.transaction(async (trx) => {
    await takeAdvisoryLock(trx, name);
    return work(trx);
  });
}
