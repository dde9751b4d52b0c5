import type { Knex } from 'knex';
import { expect, test } from 'vitest';
import * as migration from '../../src/migrations/20261122080200_extend_reseller_ledger.ts';
import { newReseller, type TestReseller } from '../operations/support/resellers.ts';
import { connectTo } from '../support/database.ts';
import { newApp } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const { api, database, databaseUrl } = await startTestService();
const { knex } = database;
const app = await newApp(api);

/** The statement of an earlier version for a movement. */
const EARLIER = `with moved as (
    update resellers set balance_minor = balance_minor + $3::bigint where reseller_id = $1 returning balance_minor
  )
  insert into reseller_ledger (entry_id, reseller_id, kind, amount_minor, balance_minor, licenses, created_at)
  select 'led_' || gen_random_uuid(), $1, $2, $3::bigint, balance_minor, 0, now() from moved`;

async function valid(): Promise<Record<string, boolean>> {
  const rows = await knex('pg_constraint')
    .whereRaw("contype = 'c' and conrelid::regclass::text ~ '^reseller'")
    .select<{ conname: string; convalidated: boolean }[]>('conname', 'convalidated');
  return Object.fromEntries(rows.map(({ conname, convalidated }) => [conname, convalidated]));
}

test('extends the ledger while an earlier version writes to it, and refunds its keys at their cost', async () => {
  const reseller: TestReseller = await newReseller(api, app, { balance: 100, price: 10 });
  const [key] = await reseller.keys(1);
  const { reseller_id } = reseller;
  await migration.down(knex);
  const earlier = await connectTo(databaseUrl);
  const write = (kind: string, amount: number) => earlier.query(EARLIER, [reseller_id, kind, amount]);
  await expect(write('top_up', 5)).rejects.toThrow(/kind_check/);
  await expect(write('credit', -5)).rejects.toThrow(/reseller_ledger_check/);

  // It does not wait for writers, because others would have to wait for it. It is retried instead.
  await earlier.query('begin');
  await write('credit', 1);
  await expect(migration.up(knex)).rejects.toMatchObject({ code: '55P03' });
  await write('debit', -1);
  await earlier.query('commit');

  let checks = 0;
  const whileWriting = {
    transaction: knex.transaction.bind(knex),
    async raw(statement: string) {
      // The remaining statements read rows without blocking writers.
      expect(statement).toContain('validate constraint');
      await earlier.query("set lock_timeout = '100ms'");
      await write('credit', 1);
      checks += 1;
      return knex.raw(statement);
    },
  };
  await migration.up(whileWriting as unknown as Knex);
  expect(checks).toBe(5);
  const constraints = await valid();
  expect(constraints).toMatchObject({
    resellers_owed_minor: true,
    resellers_waiting_minor: true,
    reseller_ledger_kinds: true,
    reseller_ledger_amounts: true,
    reseller_purchases_gross_minor: true,
  });
  expect(Object.keys(constraints)).not.toContain('reseller_ledger_kind_check');
  expect(Object.keys(constraints)).not.toContain('reseller_ledger_check');

  for (const [kind, amount] of [
    ['credit', 5],
    ['debit', -5],
    ['generation', 0],
    ['refund', 0],
  ] as const) {
    await write(kind, amount);
  }
  for (const [kind, amount] of [
    ['credit', -1],
    ['debit', 1],
    ['generation', 1],
    ['refund', -1],
    ['commission', 0],
    ['top_up', -1],
    ['top_up', 0],
    ['reversal', 0],
    ['reversal', 1],
    ['gift', 1],
  ] as const) {
    await expect(write(kind, amount), `${kind} ${amount}`).rejects.toThrow(/reseller_ledger_(kinds|amounts)/);
  }

  const path = `/api/v2/dev/reseller/licenses/${key!.license_id}/refund`;
  const { body } = await api.post(path, undefined, reseller);
  expect(body).toMatchObject({ amount: 10, balance: 100.05 });
});
