import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { LightClient } from '../concurrency/load.ts';
import { newReseller, type TestReseller } from '../operations/support/resellers.ts';
import { newApp, type App } from '../support/fixtures.ts';
import { embeddedDatabaseUrl, spawnService, temporaryDataDir } from '../support/processes.ts';

const BUY = '/api/v2/dev/reseller/licenses';

interface Order {
  readonly idempotencyKey: string;
  readonly amount: number;
}

/** What the reseller received, and the requests without a response. */
interface Received {
  readonly keys: Map<string, Order>;
  readonly responses: Map<Order, unknown>;
  readonly withoutResponse: Order[];
}

const wish = ({ app_id }: App, { amount }: Order) => ({ app_id, tier: 'Pro', duration_days: 30, amount });

/** Buys until the service is killed. */
async function burst(baseUrl: string, app: App, { token }: TestReseller, received: Received): Promise<void> {
  const client = new LightClient(baseUrl);
  let gone = false;
  const worker = async () => {
    while (!gone) {
      const order = { idempotencyKey: randomUUID(), amount: randomInt(1, 40) };
      const headers = { 'idempotency-key': order.idempotencyKey };
      try {
        const { status, body } = await client.post(BUY, wish(app, order), { token, headers });
        if (status === 201) {
          received.responses.set(order, body);
          const made = body['licenses'] as { license_key: string }[];
          for (const { license_key } of made) received.keys.set(license_key, order);
        } else {
          // Too slow or already killed: the purchase may have happened or not.
          expect([429, 503]).toContain(status);
          if (status === 503) received.withoutResponse.push(order);
          await delay(randomInt(5, 20));
        }
      } catch (error) {
        gone = true;
        const { code = '' } = error as NodeJS.ErrnoException;
        if (!/ECONNRESET|ECONNREFUSED|EPIPE/.test(code)) throw error;
        received.withoutResponse.push(order);
      }
    }
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}

interface Books {
  readonly balance: number;
  readonly sum: number;
  readonly wrong: number;
  readonly booked: number;
  readonly keys: number;
  readonly paid: number;
  readonly spent: number;
  readonly announced: number;
}

test(
  'kill -9 in the middle of generations: nothing acknowledged is lost, the ledger sums, keys match debits',
  { timeout: 180_000 },
  async () => {
    const dataDir = await temporaryDataDir();
    const start = () => spawnService({ DATA_DIR: dataDir, LOG_LEVEL: 'error' });
    let service = await start();
    const app = await newApp(service.api);
    const reseller = await newReseller(service.api, app, {
      price: 0.1,
      commission_margin: 33.33,
      balance: 50_000,
    });
    const received: Received = { keys: new Map(), responses: new Map(), withoutResponse: [] };

    for (let round = 0; round < 3; round += 1) {
      const before = received.responses.size;
      const bursting = burst(service.api.baseUrl, app, reseller, received);
      await expect.poll(() => received.responses.size).toBeGreaterThan(before + 5);
      await delay(randomInt(20, 300));
      expect(await service.end('SIGKILL')).toBeNull();
      await bursting;
      service = await start();

      const database = new pg.Client({ connectionString: await embeddedDatabaseUrl(dataDir) });
      await database.connect();
      try {
        const { rows } = await database.query<Books>(
          `select r.balance_minor::int as balance, l.*, k.*,
             (select coalesce(sum((data ->> 'amount')::int), 0)::int from events
              where type = 'license.created' and data ->> 'reseller_id' = $1) as announced
           from resellers r,
             (select sum(amount_minor)::int as sum, sum((balance_minor <> running)::int)::int as wrong,
                coalesce(sum(licenses), 0)::int as booked,
                coalesce(-sum(amount_minor) filter (where kind in ('generation', 'commission')), 0)::int as spent
              from (select *, sum(amount_minor) over (order by sequence) as running
                    from reseller_ledger where reseller_id = $1) entries) l,
             (select count(*)::int as keys, sum(cost_minor)::int as paid
              from licenses left join reseller_purchases using (license_id) where reseller_id = $1) k
           where r.reseller_id = $1`,
          [reseller.reseller_id],
        );
        const found = rows[0]!;
        expect(found).toMatchObject({
          sum: found.balance,
          wrong: 0,
          keys: found.booked,
          announced: found.booked,
          // 0.10 less a third, rounded up: 0.07 each.
          paid: found.keys * 7,
          spent: found.keys * 7,
        });
        expect(found.keys).toBeGreaterThanOrEqual(received.keys.size);
        const requested = received.withoutResponse.reduce((sum, { amount }) => sum + amount, 0);
        expect(found.keys).toBeLessThanOrEqual(received.keys.size + requested);
      } finally {
        await database.end();
      }
    }

    // Acknowledged keys belong to the reseller. Requests without a response have one effect when repeated.
    const client = new LightClient(service.api.baseUrl);
    const again = async (order: Order) => {
      const headers = { 'idempotency-key': order.idempotencyKey };
      const response = await client.post(BUY, wish(app, order), { token: reseller.token, headers });
      expect(response.status).toBe(201);
      return response;
    };
    for (const [order, body] of [...received.responses].slice(-10))
      expect((await again(order)).body).toEqual(body);
    for (const order of received.withoutResponse) {
      const { body } = await again(order);
      for (const { license_key } of body['licenses'] as { license_key: string }[])
        received.keys.set(license_key, order);
    }
    const listed = new Set<string>();
    for (let cursor = ''; ;) {
      const path = `${BUY}?limit=100${cursor && `&cursor=${cursor}`}`;
      const { body } = await client.call('GET', path, undefined, reseller.token);
      for (const { license_key } of body['data'] as { license_key: string }[]) listed.add(license_key);
      if (body['next_cursor'] === null) break;
      cursor = String(body['next_cursor']);
    }
    expect(listed).toEqual(new Set(received.keys.keys()));
    expect(await service.end('SIGTERM')).toBe(0);
    console.log(
      `${received.responses.size} generations of ${received.keys.size} keys acknowledged, ` +
        `${received.withoutResponse.length} repeated`,
    );
  },
);
