import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/platform/clock.ts';
import type { SignedEvent } from '../conformance/support/payments.ts';
import { startStripeAlone } from '../conformance/support/stripe-harness.ts';
import { LightClient, shuffled } from '../concurrency/load.ts';
import { sessionOf, WEBHOOK } from '../concurrency/stripe-processes.ts';
import { newReseller } from '../operations/support/resellers.ts';
import { atFileEnd } from '../support/at-file-end.ts';
import { ADMINISTRATOR, openCheckout, sellPlan } from '../support/billing.ts';
import { newApp, newDeveloper } from '../support/fixtures.ts';
import { embeddedDatabaseUrl, spawnService, temporaryDataDir } from '../support/processes.ts';
import { ADMIN_TOKEN } from '../support/service.ts';

const ROUNDS = 3;
const OF_EACH = 12;

const stripe = await startStripeAlone(systemClock);
const { says, server, settings } = stripe;

/** What happened to a payment at Stripe, and the payer's resulting quotas. */
interface Purchase {
  readonly events: readonly SignedEvent[];
  readonly packs: number;
  readonly balance: number;
}

/**
 * Sends events like Stripe, in any order, until the service is killed.
 * @param acknowledged receives accepted events @returns the others
 */
async function deliver(
  baseUrl: string,
  events: readonly SignedEvent[],
  acknowledged: SignedEvent[],
): Promise<SignedEvent[]> {
  const client = new LightClient(baseUrl);
  const waiting = shuffled(events);
  const withoutResponse: SignedEvent[] = [];
  let gone = false;
  const worker = async () => {
    for (let event = waiting.pop(); event; event = waiting.pop()) {
      if (gone) {
        withoutResponse.push(event);
        continue;
      }
      const headers = event.headers as Record<string, string>;
      try {
        const { status } = await client.post(WEBHOOK, event.body.toString(), { headers });
        if (status === 200) acknowledged.push(event);
        else {
          expect(status).toBe(503);
          withoutResponse.push(event);
        }
      } catch (error) {
        gone = true;
        withoutResponse.push(event);
        const { code = '' } = error as NodeJS.ErrnoException;
        if (!/ECONNRESET|ECONNREFUSED|EPIPE/.test(code)) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: 6 }, worker));
  return withoutResponse;
}

test(
  'kill -9 while payment events arrive: acknowledged ones are not lost, and nothing is granted twice',
  { timeout: 180_000 },
  async () => {
    const dataDir = await temporaryDataDir(atFileEnd);
    const environment = {
      DATA_DIR: dataDir,
      LOG_LEVEL: 'error',
      ADMIN_TOKEN,
      STRIPE_SECRET_KEY: settings.secretKey,
      STRIPE_WEBHOOK_SECRET: settings.webhookSecrets.join(','),
      STRIPE_API_URL: settings.apiUrl!,
    };
    const start = () => spawnService(environment);
    let service = await start();
    const { api } = service;
    await api.call('PATCH', '/api/v2/admin/plans/free', { max_licenses: 0 }, ADMINISTRATOR);
    const pack = await sellPlan(api, { kind: 'license_quota', period: 'lifetime', price: 10, licenses: 100 });
    const topUp = await sellPlan(api, {
      kind: 'reseller_balance',
      period: 'lifetime',
      price: 50,
      balance: 60,
    });
    const developer = await newDeveloper(api);
    const { reseller_id: resellerId } = await newReseller(api, await newApp(api, developer));

    const purchases: Purchase[] = [];
    for (let turn = 0; turn < ROUNDS * OF_EACH * 2; turn += 1) {
      const plan = turn % 2 === 0 ? pack : topUp;
      const session = sessionOf(await openCheckout(api, developer, plan));
      const events = [...(await says.paid(session))];
      const payment: string = server.world.things.get(session)!['payment_intent'];
      // Half of some payments are refunded.
      const half = turn % 3 === 0;
      if (half) events.push(...(await says.refunded(payment, plan === pack ? 500 : 2_500)));
      const part = half ? 0.5 : 1;
      purchases.push({
        events,
        packs: plan === pack ? 100 * part : 0,
        balance: plan === topUp ? 6_000 * part : 0,
      });
    }

    const acknowledged: SignedEvent[] = [];
    let waiting: SignedEvent[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = acknowledged.length;
      const fresh = purchases.slice(round * OF_EACH * 2, (round + 1) * OF_EACH * 2);
      // Events that were not acknowledged are sent again, and some that were.
      const again = shuffled(acknowledged).slice(0, 10);
      const all = [...waiting, ...again, ...fresh.flatMap(({ events }) => events)];
      const delivering = deliver(service.api.baseUrl, all, acknowledged);
      await expect.poll(() => acknowledged.length, { interval: 1 }).toBeGreaterThan(before + 2);
      await delay(randomInt(0, 60));
      expect(await service.end('SIGKILL')).toBeNull();
      waiting = await delivering;
      service = await start();
      await expectBooks(dataDir, purchases, acknowledged);
    }

    expect(waiting.length, 'it was killed in the middle').toBeGreaterThan(0);
    const left = await deliver(service.api.baseUrl, [...waiting, ...acknowledged], []);
    expect(await deliver(service.api.baseUrl, left, [])).toEqual([]);
    await expectBooks(
      dataDir,
      purchases,
      purchases.flatMap(({ events }) => events),
    );
    const { licenses } = (
      await service.api.call<{ quotas: { licenses: { limit: number } } }>(
        'GET',
        '/api/v2/dev/me',
        undefined,
        developer,
      )
    ).body.quotas;
    expect(licenses.limit).toBe(purchases.reduce((sum, { packs }) => sum + packs, 0));
    const path = `/api/v2/dev/resellers/${resellerId}`;
    const { body } = await service.api.call<{ balance: number }>('GET', path, undefined, developer);
    expect(body.balance).toBe(purchases.reduce((sum, { balance }) => sum + balance, 0) / 100);
    expect(await service.end('SIGTERM')).toBe(0);
  },
);

/** The books are consistent, contain everything that was acknowledged, and nothing that was not paid. */
async function expectBooks(
  dataDir: string,
  purchases: readonly Purchase[],
  acknowledged: readonly SignedEvent[],
): Promise<void> {
  const database = new pg.Client({ connectionString: await embeddedDatabaseUrl(dataDir) });
  await database.connect();
  try {
    const { rows } = await database.query<Record<string, number>>(
      `select d.license_packs::int as packs, r.balance_minor::int as balance, r.owed_minor::int as owed,
         (select coalesce(sum(amount), 0)::int from license_quota_entries) as entries,
         (select coalesce(sum(amount_minor), 0)::int from reseller_ledger) as ledger,
         (select coalesce(sum(i.units_granted), 0)::int from invoices i join plans p using (plan_id)
          where p.kind = 'license_quota') as granted,
         (select coalesce(sum(i.units_granted), 0)::int from invoices i join plans p using (plan_id)
          where p.kind = 'reseller_balance') as topped_up,
         (select count(*)::int from invoices) as invoices,
         (select count(*)::int from checkouts where status = 'paid') as paid,
         (select count(*)::int from checkouts c where status = 'paid'
          and not exists (select from invoices i where i.checkout_id = c.checkout_id)) as unbilled
       from developers d join resellers r using (developer_id)`,
    );
    const [found] = rows as [Record<string, number>];
    expect(found).toMatchObject({
      entries: found['packs'],
      granted: found['packs'],
      ledger: found['balance'],
      topped_up: found['balance'],
      owed: 0,
      invoices: found['paid'],
      unbilled: 0,
    });
    const { rows: known } = await database.query<{ notice_id: string }>(
      "select notice_id from payment_notices where outcome = 'applied'",
    );
    const taken = new Set(known.map(({ notice_id }) => notice_id));
    const idOf = ({ body }: SignedEvent) => (JSON.parse(body.toString()) as { id: string }).id;
    expect(acknowledged.map(idOf).filter((id) => !taken.has(id))).toEqual([]);
    // A known payment is granted, less its known refunds.
    const complete = purchases.filter(({ events }) => taken.has(idOf(events[0]!)));
    expect(found['invoices']).toBe(complete.length);
    const due = (of: 'packs' | 'balance') =>
      complete.reduce((sum, purchase) => {
        const whole = of === 'packs' ? 100 : 6_000;
        const isRefundKnown = purchase.events.every((event) => taken.has(idOf(event)));
        return sum + (purchase[of] === 0 || isRefundKnown ? purchase[of] : whole);
      }, 0);
    expect({ packs: found['packs'], balance: found['balance'] }).toEqual({
      packs: due('packs'),
      balance: due('balance'),
    });
  } finally {
    await database.end();
  }
}
