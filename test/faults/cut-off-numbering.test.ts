import createKnex from 'knex';
import { expect, test } from 'vitest';
import { tryLockPosition } from '../../src/foundation/events/event-store.ts';
import { typeParsers } from '../../src/platform/database/type-parsers.ts';
import { atFileEnd } from '../support/at-file-end.ts';
import { createTestDatabase } from '../support/database.ts';

/** Sessions without limits of their own, as a pooler may open them. */
const connectionString = await createTestDatabase();
const knex = createKnex({
  client: 'pg',
  connection: { connectionString, types: typeParsers as never },
  pool: { min: 0, max: 2 },
});
atFileEnd(() => knex.destroy());

test('a node that loses its network while it numbers events delays the others for seconds only', async () => {
  const cutOff = await knex.transaction();
  expect(await tryLockPosition(cutOff, 'log')).toBe(0);
  const held = () => knex.transaction((trx) => tryLockPosition(trx, 'log'));
  expect(await held()).toBeUndefined();
  // Only the database's own timeouts end it: the lost node does nothing.
  await expect.poll(held, { timeout: 20_000, interval: 100 }).toBe(0);
  await cutOff.rollback().catch(() => {});
});
