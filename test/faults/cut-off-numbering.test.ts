import createKnex from 'knex';
import { expect, test } from 'vitest';
import { tryLockPosition } from '../../src/foundation/events/event-store.ts';
import { typeParsers } from '../../src/platform/database/type-parsers.ts';
import { atFileEnd } from '../support/at-file-end.ts';
import { createTestDatabase } from '../support/database.ts';

/** Sessions without any limit of their own, as a pooler may give them. */
const connectionString = await createTestDatabase();
const knex = createKnex({
  client: 'pg',
  connection: { connectionString, types: typeParsers as never },
  pool: { min: 0, max: 2 },
});
atFileEnd(() => knex.destroy());

test('a node that is cut off while it numbers events holds up the others for seconds only', async () => {
  const cutOff = await knex.transaction();
  expect(await tryLockPosition(cutOff, 'log')).toBe(0);
  const held = () => knex.transaction((trx) => tryLockPosition(trx, 'log'));
  expect(await held()).toBeUndefined();
  // By the database's own time: nothing of the one that is cut off helps.
  await expect.poll(held, { timeout: 20_000, interval: 100 }).toBe(0);
  await cutOff.rollback().catch(() => {});
}, 30_000);
