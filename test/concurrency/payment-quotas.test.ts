import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newReseller } from '../operations/support/resellers.ts';
import { ADMINISTRATOR, openCheckout, sellPlan } from '../support/billing.ts';
import { newApp, newDeveloper } from '../support/fixtures.ts';
import { patiently, shuffled, tally, type LightResponse } from './load.ts';
import { sessionOf, startStripeProcesses } from './stripe-processes.ts';

const { client, send, services, sql, stripe } = await startStripeProcesses();
const [{ api }] = services;

const PACKS = 18;
const TOP_UPS = 12;
const OF_A_PACK = 10;
const OF_A_TOP_UP = 20_00;
await api.call('PATCH', '/api/v2/admin/plans/free', { max_licenses: 0 }, ADMINISTRATOR);
const pack = await sellPlan(api, {
  kind: 'license_quota',
  period: 'lifetime',
  price: 10,
  licenses: OF_A_PACK,
});
const topUp = await sellPlan(api, {
  kind: 'reseller_balance',
  period: 'lifetime',
  price: 18,
  balance: OF_A_TOP_UP / 100,
});

test('30 packs settled while licenses are created and the reseller spends: exact to the last license', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const reseller = await newReseller(api, app, { price: 7.5 });
  const events = [];
  for (let turn = 0; turn < PACKS + TOP_UPS; turn += 1) {
    const opened = await openCheckout(api, developer, turn < PACKS ? pack : topUp);
    events.push(...(await stripe.says.paid(sessionOf(opened))));
  }

  const make = (turn: number, amount: number) =>
    client(turn).post(
      `/api/v2/dev/apps/${app.app_id}/licenses`,
      { amount, tier: 'Pro', duration_days: 30 },
      developer.token,
    );
  const buy = (turn: number) =>
    client(turn).post(
      '/api/v2/dev/reseller/licenses',
      { app_id: app.app_id, tier: 'Pro', duration_days: 30, amount: 1 + (turn % 2) },
      reseller.token,
    );
  const counted = async () => {
    const [row] = await sql<Record<string, number>>(
      `select d.license_packs::int as packs, d.licenses_generated::int as generated,
           (select sum(amount)::int from license_quota_entries where developer_id = d.developer_id) as entries,
           (select count(*)::int from licenses l where l.app_id = $2) as licenses,
           (select count(*)::int from licenses l where l.reseller_id is not null and l.app_id = $2) as resold,
           (select balance_minor::int from resellers where reseller_id = $3) as balance,
           (select sum(amount_minor)::int from reseller_ledger where reseller_id = $3) as ledger,
           (select count(*)::int from reseller_ledger where reseller_id = $3 and balance_minor < 0) as below,
           (select count(*)::int from invoices i where i.developer_id = d.developer_id) as invoices,
             (select coalesce(sum((data ->> 'amount')::int), 0)::int from events
              where type = 'license.created') as announced
         from developers d where d.developer_id = $1`,
      [developer.developerId, app.app_id, reseller.reseller_id],
    );
    return row!;
  };

  let over = false;
  const responses: LightResponse[] = [];
  const workers = Promise.all(
    Array.from({ length: 6 }, async (_, worker) => {
      for (let turn = worker; !over; turn += 1) {
        responses.push(await (worker < 3 ? make(turn, 1 + (turn % 3)) : buy(turn)));
        await delay(turn % 7);
      }
    }),
  );
  const watched = (async () => {
    while (!over) {
      const { packs, generated, balance, ledger, licenses, entries } = await counted();
      expect([balance! >= 0, balance === (ledger ?? 0), generated! <= packs!]).toEqual([true, true, true]);
      expect([licenses, packs]).toEqual([generated, entries ?? 0]);
      await delay(5);
    }
  })();
  const twice = shuffled([...events, ...events]);
  const settled: LightResponse[] = [];
  for (let first = 0; first < twice.length; first += 6) {
    const some = twice.slice(first, first + 6).map((event, index) => send(index, event));
    settled.push(...(await Promise.all(some)));
  }
  over = true;
  await Promise.all([workers, watched]);
  expect(tally(settled)).toEqual({ 200: twice.length });
  const refusals = [
    '201',
    '403 QUOTA_EXCEEDED',
    '402 INSUFFICIENT_BALANCE',
    '403 INSUFFICIENT_BALANCE',
    '429 TOO_MANY_REQUESTS',
  ];
  expect(Object.keys(tally(responses)).filter((kind) => !refusals.includes(kind))).toEqual([]);

  const after = await counted();
  expect(after).toMatchObject({
    packs: PACKS * OF_A_PACK,
    entries: PACKS * OF_A_PACK,
    invoices: PACKS + TOP_UPS,
    generated: after['licenses'],
    balance: TOP_UPS * OF_A_TOP_UP - after['resold']! * 750,
    ledger: after['balance'],
    below: 0,
  });
  expect(after['resold']).toBeGreaterThan(0);

  const left = PACKS * OF_A_PACK - after['licenses']!;
  const rush = await Promise.all(
    Array.from({ length: left + 40 }, (_, turn) => patiently(() => make(turn, 1))),
  );
  expect(tally(rush)).toEqual({ ...(left > 0 && { 201: left }), '403 QUOTA_EXCEEDED': 40 });
  expect(await counted()).toMatchObject({
    licenses: PACKS * OF_A_PACK,
    generated: PACKS * OF_A_PACK,
    announced: PACKS * OF_A_PACK,
  });
  expect((await buy(0)).status).toBeGreaterThanOrEqual(400);
  expect(await counted()).toMatchObject({ licenses: PACKS * OF_A_PACK, balance: after['balance'] });
});
