import { beforeEach, describe, expect, test } from 'vitest';
import { Refusal } from '../conformance/support/stripe-routes.ts';
import { newDeveloper, type Developer } from '../support/fixtures.ts';
import { openCheckout, sellPlan, type Opened } from '../support/billing.ts';
import { LightClient, tally } from './load.ts';
import { sessionOf, startStripeProcesses } from './stripe-processes.ts';

const { client, send, services, sql, stripe } = await startStripeProcesses(LightClient);
const [{ api }] = services;
const { says, server } = stripe;
const plan = await sellPlan(api, { period: 'lifetime', price: 490 });

const order = (turn: number, { token }: Developer, key?: string) =>
  client(turn).post(
    '/api/v1/checkout',
    { plan_name: plan.plan_id },
    { token, headers: key === undefined ? {} : { 'idempotency-key': key } },
  );
const checkoutsOf = ({ developerId }: Developer) =>
  sql<{ status: string; url: string | null; session_ref: string | null }>(
    'select status, url, session_ref from checkouts where developer_id = $1',
    [developerId],
  );
const sessionsOf = ({ developerId }: Developer) =>
  server.world.of('checkout.session').filter(({ metadata }) => metadata.customer_reference === developerId);
const planOf = async ({ token }: Developer) =>
  (await api.call<{ plan: { id: string } }>('GET', '/api/v2/dev/me', undefined, { token })).body.plan.id;

const down = new Refusal(503, { type: 'api_error', message: 'Try again later.' });
const OUTAGES: Readonly<Record<string, () => void>> = {
  'which fails': () => (server.refuses = () => down),
  'which never responds': () => (server.hangs = true),
};

beforeEach(endOutage);

describe.each(Object.entries(OUTAGES))('a processor %s', (_how, startOutage) => {
  test('a checkout gets 503 within 10 s, and no page is left open', async () => {
    const developer = await newDeveloper(api);
    startOutage();
    const responses = await Promise.all([0, 1, 2, 3].map((turn) => order(turn, developer)));
    expect(tally(responses)).toEqual({ '503 SERVICE_UNAVAILABLE': 4 });
    for (const { headers, ms } of responses) {
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(ms).toBeLessThan(10_000);
    }
    expect(sessionsOf(developer)).toEqual([]);
    expect((await checkoutsOf(developer)).filter(({ url, session_ref }) => url ?? session_ref)).toEqual([]);

    endOutage();
    expect((await order(0, developer)).status).toBe(200);
    expect(sessionsOf(developer)).toHaveLength(1);
  });

  test('an event that needs it gets 503, leaves nothing behind and works when it is sent again', async () => {
    const developer = await newDeveloper(api);
    const opened: Opened = await openCheckout(api, developer, plan);
    const [event] = await says.paid(sessionOf(opened));
    startOutage();
    const response = await send(0, event!);
    expect([response.status, response.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(response.ms).toBeLessThan(10_000);
    expect(await planOf(developer)).toBe('free');
    endOutage();
    expect((await send(1, event!)).body['message']).toBe('applied');
    expect(await planOf(developer)).toBe(plan.plan_id);
  });
});

test('a request with a key can be repeated with the key', async () => {
  const developer = await newDeveloper(api);
  server.refuses = () => down;
  expect((await order(0, developer, 'again')).status).toBe(503);
  endOutage();
  expect((await order(1, developer, 'again')).status).toBe(200);
  expect(sessionsOf(developer)).toHaveLength(1);
});

function endOutage(): void {
  server.refuses = () => undefined;
  server.hangs = false;
}

test('one Idempotency-Key 100 times at once over both processes: one checkout, one page, one response', async () => {
  for (let round = 0; round < 3; round += 1) {
    const developer = await newDeveloper(api);
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, turn) => order(turn, developer, `key-${round}`)),
    );
    for (const { status, code } of responses)
      expect([200, 'IDEMPOTENCY_KEY_IN_USE']).toContain(code ?? status);
    const last = await order(round, developer, `key-${round}`);
    expect(last.status).toBe(200);
    for (const { status, body } of responses) if (status === 200) expect(body).toEqual(last.body);
    expect(await checkoutsOf(developer)).toEqual([
      expect.objectContaining({ status: 'open', url: last.body['url'] }),
    ]);
    expect(sessionsOf(developer)).toHaveLength(1);
  }
});
