import { beforeAll, describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { sumPaid } from '../../../src/commerce/billing/revenue-store.ts';
import { ADMINISTRATOR, buy, sellPlan, untilPaymentEventsProcessed } from '../../support/billing.ts';
import { DAY } from '../../support/clock.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';

const service = await startTestService();
const { api, clock, database } = service;

const report = (query = '', token = ADMINISTRATOR.token) =>
  api.call<components['schemas']['RevenueResult']>('GET', `/api/v2/admin/revenue${query}`, undefined, {
    token,
  });

describe('of what was paid', () => {
  // 2026-11-21, and 2026-12-01 ten days later.
  beforeAll(async () => {
    const [developer, other] = [await newDeveloper(api), await newDeveloper(api)];
    const dollars = await sellPlan(api, { price: 19.99, period: 'lifetime' });
    const yen = await sellPlan(api, { price: 500, currency: 'JPY', period: 'lifetime' });
    const { invoice } = await buy(api, developer, dollars);
    await buy(api, other, yen);
    clock.advance(10 * DAY);
    const renewed = await newDeveloper(api);
    await buy(api, renewed, dollars);
    const refund = `/api/v2/admin/invoices/${invoice.invoice_id}/refunds`;
    await api.post(refund, { amount: 5 }, ADMINISTRATOR);
    await untilPaymentEventsProcessed(service);
  });

  const first = { currency: 'USD', invoices: 1, amount: 19.99, refunded: 5, disputed: 0, net: 14.99 };
  const second = { currency: 'USD', invoices: 1, amount: 19.99, refunded: 0, disputed: 0, net: 19.99 };
  const yen = { currency: 'JPY', invoices: 1, amount: 500, refunded: 0, disputed: 0, net: 500 };
  const all = { currency: 'USD', invoices: 2, amount: 39.98, refunded: 5, disputed: 0, net: 34.98 };

  test('by day, in the last 30 days, with refunds on the day of the payment', async () => {
    const { status, body } = await report();
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'success',
      interval: 'day',
      from: '2026-11-02',
      to: '2026-12-01',
      data: [
        { start: '2026-11-21', ...yen },
        { start: '2026-11-21', ...first },
        { start: '2026-12-01', ...second },
      ],
      totals: [yen, all],
    });
  });

  test('by month, in the last 12 months', async () => {
    const { body } = await report('?interval=month');
    expect(body).toMatchObject({ interval: 'month', from: '2026-01-01', to: '2026-12-31' });
    expect(body.data.map(({ start, currency, net }) => [start, currency, net])).toEqual([
      ['2026-11-01', 'JPY', 500],
      ['2026-11-01', 'USD', 14.99],
      ['2026-12-01', 'USD', 19.99],
    ]);
  });

  test('in other days and months', async () => {
    expect((await report('?from=2026-12-01&to=2026-12-01')).body.data).toEqual([
      { start: '2026-12-01', ...second },
    ]);
    expect((await report('?to=2026-11-20')).body).toMatchObject({ from: '2026-10-22', data: [], totals: [] });
    expect((await report('?interval=month&from=2026-11-30&to=2026-11-02')).body).toMatchObject({
      from: '2026-11-01',
      to: '2026-11-30',
      totals: [yen, first],
    });
  });

  test('without payments of another processor', async () => {
    const { knex } = database;
    await knex('invoices').where({ currency: 'JPY' }).update({ processor: 'stripe' });
    expect((await report()).body.totals).toEqual([all]);
    await knex('invoices').where({ currency: 'JPY' }).update({ processor: 'test' });
  });

  test('with disputes, at the time of creation where the time of payment is not known', async () => {
    const { knex } = database;
    const yenOnly = () => knex('invoices').where({ currency: 'JPY' });
    await yenOnly().update({ dispute: 'open', paid_at: null, created_at: '2026-11-23T23:59:59.999Z' });
    expect((await report('?from=2026-11-23&to=2026-11-23')).body.data).toEqual([
      { start: '2026-11-23', ...yen, disputed: 500, net: 0 },
    ]);
    await yenOnly().update({ dispute: 'won' });
    expect((await report('?from=2026-11-23&to=2026-11-23')).body.data).toEqual([
      { start: '2026-11-23', ...yen },
    ]);
  });
});

test('reads the payments of the range off an index', async () => {
  const { knex } = database;
  const plan: string[] = [];
  await knex.transaction(async (trx) => {
    await trx.raw('set local enable_seqscan = off');
    const explain = (sql: string, bindings: object) => trx.raw(`explain ${sql}`, bindings as never);
    const explained = { raw: explain } as unknown as typeof trx;
    const span = { since: new Date('2026-11-01'), until: new Date('2026-12-01') };
    const rows = (await sumPaid(explained, 'test', 'day', span)) as unknown as { 'QUERY PLAN': string }[];
    plan.push(...rows.map((row) => row['QUERY PLAN']));
  });
  expect(plan.join('\n')).toMatch(/invoices_paid/);
  expect(plan.join('\n')).toMatch(/Index Cond: .*processor.*COALESCE/);
});

test('VALIDATION_FAILED and UNAUTHORIZED', async () => {
  expectFaults(await report('?interval=year'), 'query/interval');
  expectFaults(await report('?from=2026-12-02&to=2026-12-01'), 'query/from');
  expectFaults(await report('?from=2025-11-30&to=2026-12-01'), 'query/from');
  expect((await report('?from=2025-12-01&to=2026-12-01')).status).toBe(200);
  expectFaults(await report('?interval=month&from=2021-12-31&to=2026-12-01'), 'query/from');
  expect((await report('?interval=month&from=2022-01-31&to=2026-12-01')).status).toBe(200);
  expect((await report('?from=9999-12-31&to=9999-12-31')).status).toBe(200);
  expect((await report('?interval=month&from=1000-01-01&to=1000-01-01')).status).toBe(200);
  const { token } = await newDeveloper(api);
  expectError(await report('', token), 401, 'UNAUTHORIZED');
});
