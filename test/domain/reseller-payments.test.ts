import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { components } from '../../generated/types.ts';
import type { Actor } from '../../src/foundation/audit/audit.ts';
import { LARGEST_MINOR } from '../../src/foundation/money/money.ts';
import type { AfterPayment } from '../../src/commerce/resellers/resellers.ts';
import { expectError, expectFaults } from '../operations/support/errors.ts';
import { newReseller, type ResellerFields, type TestReseller } from '../operations/support/resellers.ts';
import { newApp, newDeveloper } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

type Schemas = components['schemas'];
type Kind = 'topUp' | 'takeBack' | 'giveBack';

const { api, services, database } = await startTestService();
const { resellerPayments: payments, resellers, developers } = services;
const app = await newApp(api);
const FULL = LARGEST_MINOR / 100;

async function actorOf(token: string): Promise<Actor> {
  const { developerId } = (await developers.authenticate(token))!;
  return { kind: 'service', id: 'payments', developerId, address: '127.0.0.1' };
}
const actor = await actorOf(app.token);

function pay(
  kind: Kind,
  { reseller_id: resellerId }: Pick<TestReseller, 'reseller_id'>,
  amountMinor: number,
  reference = 'inv_1',
): Promise<AfterPayment> {
  return database.knex.transaction((trx) =>
    payments[kind](trx, actor, { resellerId, amountMinor, reference, note: null }),
  );
}

const holdings = async ({ reseller_id }: Pick<TestReseller, 'reseller_id'>) => {
  const row = await database.knex('resellers').where({ reseller_id }).first<Record<string, number>>();
  return [row['balance_minor'], row['owed_minor'], row['waiting_minor']];
};

/** Kind, amount in minor units and reference of each entry, oldest first. Checks their sums. */
async function entries({ reseller_id }: Pick<TestReseller, 'reseller_id'>): Promise<unknown[][]> {
  const rows = await database
    .knex('reseller_ledger')
    .where({ reseller_id })
    .orderBy('sequence')
    .select<{ kind: string; amount_minor: number; balance_minor: number; reference: string | null }[]>(
      'kind',
      'amount_minor',
      'balance_minor',
      'reference',
    );
  let sum = 0;
  for (const row of rows) expect(row.balance_minor).toBe((sum += row.amount_minor));
  expect((await holdings({ reseller_id }))[0]).toBe(sum);
  return rows.map(({ kind, amount_minor, reference }) => [kind, amount_minor, reference]);
}

const shown = async (reseller: TestReseller) => {
  const own = await api.call<Schemas['OwnResellerResult']>(
    'GET',
    '/api/v2/dev/reseller',
    undefined,
    reseller,
  );
  const { body } = await api.call<Schemas['ResellerResult']>('GET', reseller.path, undefined, app);
  const { balance, owed, waiting } = own.body;
  expect(body).toMatchObject({ balance, owed });
  expect(body.waiting).toBe(waiting);
  return { balance, owed, ...(waiting !== undefined && { waiting }) };
};

const made = (fields: ResellerFields = {}) => newReseller(api, app, fields);
const audited = async (reseller: TestReseller) =>
  (
    await api.call<Schemas['AuditEntryList']>(
      'GET',
      `/api/v2/dev/audit-log?target=${reseller.reseller_id}`,
      undefined,
      app,
    )
  ).body.data;

describe('a top-up', () => {
  test('is an entry with its payment, and is in the audit log', async () => {
    const reseller = await made();
    const payment = {
      resellerId: reseller.reseller_id,
      amountMinor: 2_500,
      reference: 'inv_17',
      note: 'Card',
    };
    const after = await database.knex.transaction((trx) => payments.topUp(trx, actor, payment));
    expect(after).toEqual({
      entryId: expect.stringMatching(/^led_/) as string,
      balanceMinor: 2_500,
      owedMinor: 0,
      waitingMinor: 0,
    });
    const { body } = await api.call<Schemas['LedgerEntryList']>(
      'GET',
      '/api/v2/dev/reseller/ledger',
      undefined,
      reseller,
    );
    expect(body.data).toMatchObject([
      {
        entry_id: after.entryId,
        kind: 'top_up',
        amount: 25,
        balance: 25,
        licenses: 0,
        reference: 'inv_17',
        note: 'Card',
      },
    ]);
    expect((await audited(reseller))[0]).toMatchObject({
      action: 'reseller.topped_up',
      actor: { kind: 'service', id: 'payments' },
      data: { entry_id: after.entryId, amount: 25, balance: 25, currency: 'USD' },
    });
  });

  test('is rolled back with the transaction of the caller', async () => {
    const reseller = await made();
    const payment = { resellerId: reseller.reseller_id, amountMinor: 5, reference: 'inv_1', note: null };
    const failing = database.knex.transaction(async (trx) => {
      await payments.topUp(trx, actor, payment);
      throw new Error('the settlement fails');
    });
    await expect(failing).rejects.toThrow('the settlement fails');
    expect(await entries(reseller)).toEqual([]);
  });

  test('pays debt first', async () => {
    const reseller = await made();
    await pay('takeBack', reseller, 70);
    expect(await pay('topUp', reseller, 50, 'inv_2')).toMatchObject({ balanceMinor: 0, owedMinor: 20 });
    expect(await pay('topUp', reseller, 50, 'inv_3')).toMatchObject({ balanceMinor: 30, owedMinor: 0 });
    expect(await entries(reseller)).toEqual([
      ['top_up', 50, 'inv_2'],
      ['reversal', -50, 'inv_2'],
      ['top_up', 50, 'inv_3'],
      ['reversal', -20, 'inv_3'],
    ]);
  });

  test('is credited to a suspended reseller', async () => {
    const reseller = await made();
    await reseller.patch({ suspended: true });
    await pay('topUp', reseller, 5);
    expect(await reseller.balance()).toBe(0.05);
  });

  test('is credited to a deleted reseller, who stays deleted, and can be reversed', async () => {
    const reseller = await made();
    await api.call('DELETE', reseller.path, undefined, app);
    expect(await pay('topUp', reseller, 500)).toMatchObject({ balanceMinor: 500 });
    expect((await audited(reseller))[0]).toMatchObject({ data: { amount: 5, deleted: true } });
    expectError(await api.call('GET', reseller.path, undefined, app), 404, 'RESELLER_NOT_FOUND');
    expectError(await api.call('GET', '/api/v2/dev/reseller', undefined, reseller), 401, 'UNAUTHORIZED');
    expect(await pay('takeBack', reseller, 500)).toMatchObject({ balanceMinor: 0, owedMinor: 0 });
    expect(await entries(reseller)).toEqual([
      ['top_up', 500, 'inv_1'],
      ['reversal', -500, 'inv_1'],
    ]);
  });
});

describe('a full balance', () => {
  test('is credited up to the limit, and the rest waits, is shown, and is credited when there is space', async () => {
    const reseller = await made({ balance: FULL - 1 });
    expect(await pay('topUp', reseller, 250)).toMatchObject({ waitingMinor: 150 });
    expect(await shown(reseller)).toEqual({ balance: FULL, owed: 0, waiting: 1.5 });
    expect((await audited(reseller))[0]).toMatchObject({
      action: 'reseller.surplus_changed',
      data: { owed: 0, waiting: 1.5, currency: 'USD' },
    });
    expect(await pay('topUp', reseller, 1)).toEqual({
      entryId: null,
      balanceMinor: LARGEST_MINOR,
      owedMinor: 0,
      waitingMinor: 151,
    });
    await resellers.debit(actor, reseller.reseller_id, 0.5, null);
    expect(await shown(reseller)).toEqual({ balance: FULL, owed: 0, waiting: 1.01 });
    expect((await reseller.buy()).body).toMatchObject({ cost: 10, balance: 9_999_999_999_991 });
    expect(await shown(reseller)).toEqual({ balance: 9_999_999_999_991, owed: 0 });
    const written = (await entries(reseller)).map(([kind, amount]) => [kind, amount]);
    expect(written).toEqual([
      ['credit', LARGEST_MINOR - 100],
      ['top_up', 100],
      ['debit', -50],
      ['top_up', 50],
      ['generation', -1000],
      ['top_up', 101],
    ]);
  });

  test('refuses credits', async () => {
    const reseller = await made({ balance: FULL });
    await pay('topUp', reseller, 1);
    const credit = await api.post(`${reseller.path}/credits`, { amount: 0.01 }, app);
    expectFaults(credit, '/amount');
    expect(await holdings(reseller)).toEqual([LARGEST_MINOR, 0, 1]);
  });

  test('can also be reversed from the waiting amount', async () => {
    const reseller = await made({ balance: FULL });
    await pay('topUp', reseller, 300);
    expect(await pay('takeBack', reseller, 200)).toMatchObject({ waitingMinor: 100 });
    expect(await pay('takeBack', reseller, LARGEST_MINOR)).toMatchObject({
      balanceMinor: 100,
      waitingMinor: 0,
    });
    expect(await pay('takeBack', reseller, 101)).toMatchObject({ balanceMinor: 0, owedMinor: 1 });
    await entries(reseller);
  });
});

describe('a reversal', () => {
  test('debits what is available, and the rest is owed, shown, and paid by the next credits', async () => {
    const reseller = await made({ balance: 50, commission_margin: 12.5 });
    const [key] = await reseller.keys(2);
    // 32.50 is left.
    expect(await pay('takeBack', reseller, 5_000, 'inv_9')).toMatchObject({
      balanceMinor: 0,
      owedMinor: 1_750,
    });
    expect(await shown(reseller)).toEqual({ balance: 0, owed: 17.5 });
    expect((await audited(reseller)).slice(0, 2)).toMatchObject([
      { action: 'reseller.debt_changed', data: { owed: 17.5, currency: 'USD' } },
      { action: 'reseller.reversed', data: { amount: -32.5 } },
    ]);
    expectError(await reseller.buy(), 402, 'INSUFFICIENT_BALANCE');

    const refund = await api.post<Schemas['RefundResellerLicenseResult']>(
      `/api/v2/dev/reseller/licenses/${key!.license_id}/refund`,
      undefined,
      reseller,
    );
    expect(refund.body).toMatchObject({ amount: 8.75, balance: 0 });
    const credit = await api.post<Schemas['LedgerEntryResult']>(
      `${reseller.path}/credits`,
      { amount: 10 },
      app,
    );
    expect(credit.body).toMatchObject({ kind: 'credit', amount: 10, balance: 10 });
    expect(await shown(reseller)).toEqual({ balance: 1.25, owed: 0 });
    expect((await entries(reseller)).slice(3)).toEqual([
      ['reversal', -3_250, 'inv_9'],
      ['refund', 1_000, key!.license_id],
      ['commission', -125, key!.license_id],
      ['reversal', -875, key!.license_id],
      ['credit', 1_000, null],
      ['reversal', -875, null],
    ]);
  });

  test('of an empty balance has no entry, but is in the audit log', async () => {
    const reseller = await made();
    expect(await pay('takeBack', reseller, 5)).toEqual({
      entryId: null,
      balanceMinor: 0,
      owedMinor: 5,
      waitingMinor: 0,
    });
    expect((await audited(reseller))[0]).toMatchObject({
      action: 'reseller.debt_changed',
      data: { owed: 0.05, waiting: 0, currency: 'USD' },
    });
  });

  test('leaves a debt that does not prevent the deletion of the reseller', async () => {
    const reseller = await made();
    await pay('takeBack', reseller, 5);
    expect((await api.call('DELETE', reseller.path, undefined, app)).status).toBe(200);
    expect(await pay('giveBack', reseller, 5)).toMatchObject({ balanceMinor: 0, owedMinor: 0 });
  });
});

test('the reinstatement of a reversed payment cancels debt first, and credits the rest', async () => {
  const reseller = await made({ balance: 0.3 });
  await pay('takeBack', reseller, 100, 'inv_5');
  await reseller.credit(0.5);
  expect(await holdings(reseller)).toEqual([0, 20, 0]);
  expect(await pay('giveBack', reseller, 100, 'inv_5')).toMatchObject({ balanceMinor: 80, owedMinor: 0 });
  expect((await entries(reseller)).at(-1)).toEqual(['top_up', 80, 'inv_5']);
});

test('unknown and foreign resellers and invalid amounts are refused', async () => {
  const reseller = await made();
  const { token } = await newDeveloper(api);
  const payment = { resellerId: reseller.reseller_id, amountMinor: 5, reference: 'inv_1', note: null };
  const foreign = await actorOf(token);
  for (const kind of ['topUp', 'takeBack', 'giveBack'] as const) {
    const as = (by: Actor, more: object) =>
      database.knex.transaction((trx) => payments[kind](trx, by, { ...payment, ...more }));
    const absent = expect.objectContaining({ code: 'RESELLER_NOT_FOUND' }) as Error;
    await expect(as(foreign, {})).rejects.toEqual(absent);
    await expect(as(actor, { resellerId: 'rsl_01kazmd4p7fy3t6w9z2b5e8h1k' })).rejects.toEqual(absent);
    for (const amountMinor of [0, -1, 0.5, NaN, Infinity, LARGEST_MINOR + 1]) {
      await expect(as(actor, { amountMinor })).rejects.toThrow(RangeError);
    }
  }
  expect(await holdings(reseller)).toEqual([0, 0, 0]);
});

test('in any order, balance + waiting - owed is income less expenses, and only the balance is spent', async () => {
  const deed = fc.record({
    kind: fc.constantFrom('credit', 'debit', 'topUp', 'takeBack', 'giveBack'),
    amount: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constantFrom(1, LARGEST_MINOR - 1, LARGEST_MINOR)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 12 }), async (deeds) => {
      const { resellerId } = await resellers.create(actor, {
        name: 'Model',
        currency: 'JPY',
        commissionMargin: 0,
      });
      const reseller = { reseller_id: resellerId };
      let worth = 0;
      for (const { kind, amount } of deeds) {
        const balance = Math.min(Math.max(worth, 0), LARGEST_MINOR);
        const refused = expect.objectContaining({
          code: kind === 'credit' ? 'VALIDATION_FAILED' : 'INSUFFICIENT_BALANCE',
        }) as Error;
        if (kind === 'credit' || kind === 'debit') {
          const done = resellers[kind](actor, resellerId, amount, null);
          const possible = kind === 'debit' ? amount <= balance : balance + amount <= LARGEST_MINOR;
          if (!possible) await expect(done).rejects.toEqual(refused);
          else {
            await done;
            worth += kind === 'credit' ? amount : -amount;
          }
        } else {
          await pay(kind as Kind, reseller, amount);
          worth += kind === 'takeBack' ? -amount : amount;
        }
        expect(await holdings(reseller)).toEqual([
          Math.min(Math.max(worth, 0), LARGEST_MINOR),
          Math.max(-worth, 0),
          Math.max(worth - LARGEST_MINOR, 0),
        ]);
      }
      await entries(reseller);
    }),
    { numRuns: 60, endOnFailure: true },
  );
});

test('a reinstated payment has the same result as without the reversal, at any time', async () => {
  const deed = fc.record({
    kind: fc.constantFrom('credit', 'topUp', 'takeBack', 'giveBack'),
    amount: fc.integer({ min: 1, max: 200 }),
  });
  const between = fc.array(deed, { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(between, between, fc.integer({ min: 1, max: 300 }), async (before, after, amount) => {
      const outcomes = [];
      for (const disputed of [true, false]) {
        const { resellerId } = await resellers.create(actor, {
          name: 'Model',
          currency: 'JPY',
          commissionMargin: 0,
        });
        const reseller = { reseller_id: resellerId };
        const run = async (deeds: typeof before) => {
          for (const each of deeds) {
            if (each.kind === 'credit') await resellers.credit(actor, resellerId, each.amount, null);
            else await pay(each.kind as Kind, reseller, each.amount);
          }
        };
        await run(before);
        if (disputed) await pay('takeBack', reseller, amount);
        await run(after);
        if (disputed) await pay('giveBack', reseller, amount);
        outcomes.push(await holdings(reseller));
      }
      expect(outcomes[0]).toEqual(outcomes[1]);
    }),
    { numRuns: 25, endOnFailure: true },
  );
});
