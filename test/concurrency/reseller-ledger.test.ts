import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { createAudit, type Actor } from '../../src/foundation/audit/audit.ts';
import { fromMinor, LARGEST_MINOR, toMinor } from '../../src/foundation/money/money.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { openDatabase } from '../../src/platform/database/index.ts';
import { createNewId } from '../../src/platform/ids.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { createResellerPayments } from '../../src/commerce/resellers/balance-payments.ts';
import { createLedger } from '../../src/commerce/resellers/ledger.ts';
import { costOfKey } from '../../src/commerce/resellers/reseller-state.ts';
import { newReseller, type TestReseller } from '../operations/support/resellers.ts';
import { newApp } from '../support/fixtures.ts';
import type { LightResponse } from './load.ts';
import { startTwoProcesses } from './two-processes.ts';

const { client, databaseUrl, services, sql } = await startTwoProcesses();
const [{ api }] = services;
const app = await newApp(api);
const [{ developer_id: developerId }] = (await sql<{ developer_id: string }>(
  'select developer_id from applications where app_id = $1',
  [app.app_id],
)) as [{ developer_id: string }];
const actor: Actor = { kind: 'service', id: 'payments', developerId, address: '127.0.0.1' };

/** No operation moves payments, so two nodes' use cases run on connections of their own. */
const payers = await Promise.all(
  [1, 2].map(async () => {
    const logger = createLogger('fatal');
    const { knex, close } = await openDatabase({ databaseUrl, dataDir: '', logger, maxConnections: 3 });
    afterAll(close);
    const clock = systemClock;
    const newId = createNewId(clock, systemRandom);
    const audit = createAudit({ knex, clock, newId });
    return { knex, payments: createResellerPayments(createLedger({ knex, audit, clock, newId })) };
  }),
);

const MARGINS = [0, 0.01, 33.33, 100];
const WORKERS = 6;

const amount = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 40_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(1, LARGEST_MINOR - 1, LARGEST_MINOR) },
);
const operation = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('buy' as const), keys: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('refund' as const), which: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('margin' as const), margin: fc.constantFrom(...MARGINS) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('giveBack' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('credit' as const, 'debit' as const), amount }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('topUp' as const, 'takeBack' as const), amount }),
  },
);
type Operation = typeof operation extends fc.Arbitrary<infer Type> ? Type : never;

/**
 * One movement of each kind at the limits, one after another, before all others. It leaves 29,999 and a dispute.
 */
const FIRST: readonly Operation[] = [
  { kind: 'credit', amount: LARGEST_MINOR },
  { kind: 'buy', keys: 1 },
  { kind: 'refund', which: 0 },
  { kind: 'debit', amount: 1 },
  { kind: 'takeBack', amount: LARGEST_MINOR },
  { kind: 'giveBack' },
  { kind: 'takeBack', amount: LARGEST_MINOR - 30_000 },
];

interface Acknowledged {
  /** The sum of everything that was acknowledged. */
  worth: bigint;
  /** The part from payments. */
  paid: bigint;
  readonly keys: string[];
  readonly refunded: string[];
  readonly purchases: { readonly reference: string; readonly cost: bigint; readonly keys: number }[];
  /** Reversed amounts that were not reinstated yet. */
  readonly disputed: number[];
}

interface Entry {
  readonly kind: string;
  readonly amount: bigint;
  readonly balance: bigint;
  readonly licenses: number;
  readonly reference: string | null;
}

/** Runs an operation on both nodes alternately, and records what was acknowledged. */
async function perform(
  each: Operation,
  turn: number,
  {
    reseller,
    currency,
    acknowledged,
  }: { reseller: TestReseller; currency: string; acknowledged: Acknowledged },
): Promise<void> {
  const minor = (value: unknown) => BigInt(toMinor(value as number, currency)!);
  const send = (path: string, body: unknown, token: string, more = 0) =>
    client(turn + more).post(path, body, { token });
  const expectOneOf = ({ status, code }: LightResponse, ...outcomes: string[]) =>
    expect(outcomes).toContain(code === undefined ? String(status) : `${status} ${code}`);
  const keys = '/api/v2/dev/reseller/licenses';

  switch (each.kind) {
    case 'credit':
    case 'debit': {
      const wanted = { amount: fromMinor(each.amount, currency) };
      const response = await send(`${reseller.path}/${each.kind}s`, wanted, app.token);
      expectOneOf(
        response,
        '201',
        each.kind === 'credit' ? '400 VALIDATION_FAILED' : '409 INSUFFICIENT_BALANCE',
      );
      if (response.status === 201)
        acknowledged.worth += BigInt(each.kind === 'credit' ? each.amount : -each.amount);
      return;
    }
    case 'buy': {
      const wish = { app_id: app.app_id, tier: 'Pro', duration_days: 30, amount: each.keys };
      const response = await send(keys, wish, reseller.token);
      expectOneOf(response, '201', '402 INSUFFICIENT_BALANCE', '429 TOO_MANY_REQUESTS');
      if (response.status !== 201) return;
      const made = (response.body['licenses'] as { license_id: string }[]).map(
        ({ license_id }) => license_id,
      );
      const cost = minor(response.body['cost']);
      acknowledged.keys.push(...made);
      acknowledged.purchases.push({ reference: made[0]!, cost, keys: made.length });
      acknowledged.worth -= cost;
      return;
    }
    case 'refund': {
      if (acknowledged.keys.length === 0) return;
      const id = acknowledged.keys[each.which % acknowledged.keys.length]!;
      // On both nodes concurrently: it is reinstated once.
      const responses = await Promise.all(
        [0, 1].map((more) => send(`${keys}/${id}/refund`, undefined, reseller.token, more)),
      );
      for (const response of responses) {
        expectOneOf(response, '200', '404 LICENSE_NOT_FOUND', '409 LICENSE_NOT_REFUNDABLE');
        if (response.status !== 200) continue;
        acknowledged.refunded.push(id);
        acknowledged.worth += minor(response.body['amount']);
      }
      return;
    }
    case 'margin': {
      const change = { commission_margin: each.margin };
      const { status } = await client(turn).call('PATCH', reseller.path, change, app.token);
      expect(status).toBe(200);
      return;
    }
    default: {
      const amountMinor = each.kind === 'giveBack' ? acknowledged.disputed.pop() : each.amount;
      if (amountMinor === undefined) return;
      const { knex, payments } = payers[turn % 2]!;
      const payment = { resellerId: reseller.reseller_id, amountMinor, reference: `inv_${turn}`, note: null };
      await knex.transaction((trx) => payments[each.kind](trx, actor, payment));
      if (each.kind === 'takeBack') acknowledged.disputed.push(amountMinor);
      const change = BigInt(each.kind === 'takeBack' ? -amountMinor : amountMinor);
      acknowledged.worth += change;
      acknowledged.paid += change;
    }
  }
}

async function entriesOf({ reseller_id }: TestReseller): Promise<Entry[]> {
  const rows = await sql<{
    kind: string;
    amount_minor: string;
    balance_minor: string;
    licenses: number;
    reference: string | null;
  }>('select * from reseller_ledger where reseller_id = $1 order by sequence', [reseller_id]);
  return rows.map(({ kind, amount_minor, balance_minor, licenses, reference }) => ({
    kind,
    amount: BigInt(amount_minor),
    balance: BigInt(balance_minor),
    licenses,
    reference,
  }));
}

async function holdingsOf({ reseller_id }: TestReseller) {
  const [row] = await sql<Record<'balance_minor' | 'owed_minor' | 'waiting_minor', string>>(
    'select balance_minor, owed_minor, waiting_minor from resellers where reseller_id = $1',
    [reseller_id],
  );
  return {
    balance: BigInt(row!.balance_minor),
    owed: BigInt(row!.owed_minor),
    waiting: BigInt(row!.waiting_minor),
  };
}

const sum = (entries: readonly Entry[], ...kinds: string[]) =>
  entries
    .filter(({ kind }) => kinds.length === 0 || kinds.includes(kind))
    .reduce((total, entry) => total + entry.amount, 0n);

/** Invariants after any operations in any order. */
async function expectBooksAgree(
  reseller: TestReseller,
  acknowledged: Acknowledged,
  priceMinor: number,
): Promise<readonly Entry[]> {
  const entries = await entriesOf(reseller);
  const { balance, owed, waiting } = await holdingsOf(reseller);

  let running = 0n;
  for (const entry of entries) {
    running += entry.amount;
    expect(entry.balance).toBe(running);
    expect(running >= 0n && running <= BigInt(LARGEST_MINOR)).toBe(true);
  }
  expect(balance).toBe(running);
  expect(owed >= 0n && waiting >= 0n).toBe(true);
  if (owed > 0n) expect(balance).toBe(0n);
  if (waiting > 0n) expect(balance).toBe(BigInt(LARGEST_MINOR));

  // Exactly what was acknowledged has happened.
  expect(balance + waiting - owed).toBe(acknowledged.worth);
  expect(sum(entries, 'top_up', 'reversal')).toBe(acknowledged.paid + owed - waiting);

  const costs = new Set(MARGINS.map((margin) => BigInt(costOfKey(priceMinor, Math.round(margin * 100)))));
  expect(entries.filter(({ kind }) => kind === 'generation')).toHaveLength(acknowledged.purchases.length);
  for (const { reference, cost, keys } of acknowledged.purchases) {
    expect(costs).toContain(cost / BigInt(keys));
    const own = entries.filter((entry) => entry.reference === reference);
    const at = own.findIndex(({ kind }) => kind === 'generation');
    // The commission, if any, comes right before it.
    const bought = own.slice(0, at + 1);
    expect(['generation', 'commission,generation']).toContain(bought.map(({ kind }) => kind).join());
    expect(sum(bought)).toBe(-cost);
    if (at === 1) expect(bought[1]!.amount).toBe(-BigInt(priceMinor) * BigInt(keys));
    expect(bought.at(-1)!.licenses).toBe(keys);
  }

  expect(new Set(acknowledged.refunded).size).toBe(acknowledged.refunded.length);
  const refunds = entries.filter(({ kind }) => kind === 'refund');
  expect(refunds.map(({ reference }) => reference).sort()).toEqual([...acknowledged.refunded].sort());
  const { keys, paid } = (
    await sql<{ keys: number; paid: string }>(
      `select count(*)::int as keys, coalesce(sum(cost_minor), 0) as paid
       from licenses left join reseller_purchases using (license_id) where reseller_id = $1`,
      [reseller.reseller_id],
    )
  )[0]!;
  expect(keys).toBe(acknowledged.keys.length - acknowledged.refunded.length);
  expect(-sum(entries, 'generation', 'commission', 'refund')).toBe(BigInt(paid));
  return entries;
}

test.each([
  ['JPY', 0, 1],
  ['USD', 0.01, 20_000],
  ['KWD', 33.33, 100],
  ['USD', 100, LARGEST_MINOR],
  ['JPY', 33.33, LARGEST_MINOR / 3],
])(
  'in %s, at %d percent commission and a price of %d, all operations at once on two nodes leave consistent books',
  async (currency, margin, priceMinor) => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 20, maxLength: 40 }), async (operations) => {
        const reseller = await newReseller(api, app, {
          currency,
          commission_margin: margin,
          price: fromMinor(priceMinor, currency),
        });
        const acknowledged: Acknowledged = {
          worth: 0n,
          paid: 0n,
          keys: [],
          refunded: [],
          purchases: [],
          disputed: [],
        };
        for (const [turn, each] of FIRST.entries()) {
          await perform(each, turn, { reseller, currency, acknowledged });
        }
        expect(acknowledged.worth).toBe(29_999n);
        let next = 0;
        const worker = async () => {
          while (next < operations.length) {
            const turn = next++;
            await perform(operations[turn]!, turn, { reseller, currency, acknowledged });
          }
        };
        await Promise.all(Array.from({ length: WORKERS }, worker));
        for (const { kind } of await expectBooksAgree(reseller, acknowledged, priceMinor)) seen.add(kind);
      }),
      // Concurrent runs differ, so there is nothing to shrink.
      { numRuns: 4, endOnFailure: true },
    );
    const all = ['credit', 'debit', 'generation', 'refund', 'top_up', 'reversal'];
    expect([...seen]).toEqual(expect.arrayContaining(all));
  },
);
