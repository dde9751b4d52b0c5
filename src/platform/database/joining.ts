import { AsyncLocalStorage } from 'node:async_hooks';
import type { Knex } from 'knex';

const surrounding = new AsyncLocalStorage<Knex.Transaction>();

/**
 * A knex whose statements and transactions join the surrounding transaction of the caller, if there is one. A
 * transaction inside it is a savepoint.
 */
export function joining(knex: Knex): Knex {
  return new Proxy(knex, {
    apply: (target, _this, args: [string]) => (surrounding.getStore() ?? target)(...args),
    get: (target, name) => Reflect.get(surrounding.getStore() ?? target, name) as unknown,
  });
}

/**
 * Runs work in one transaction, which all its statements on a `joining` knex join: all of it happens, or nothing.
 * @param knex one that does not join transactions
 */
export async function inOneTransaction<Result>(
  knex: Knex,
  work: (trx: Knex.Transaction) => Promise<Result>,
): Promise<Result> {
  return knex.transaction((trx) => surrounding.run(trx, () => work(trx)));
}
