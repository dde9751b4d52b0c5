import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import {
  ADMINISTRATOR,
  untilPaymentEventsProcessed,
  buy,
  openCheckout,
  paid,
  sellPlan,
} from '../../support/billing.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, unique, type Developer } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { limitPlan } from '../support/plans.ts';
import { ABSENT_RESELLER, newReseller } from '../support/resellers.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

type Schemas = components['schemas'];
type CheckoutResponse = Schemas['CreateCheckoutResult'] & { readonly detail?: string };

const service = await startTestService();
const { api, clock, databaseUrl } = service;
const developer = await newDeveloper(api);
const monthly = await sellPlan(api);

const create = (
  body: unknown,
  { token }: { readonly token?: string } = developer,
  headers: Record<string, string> = {},
) => api.post<CheckoutResponse>('/api/v1/checkout', body, { token, headers });
const read = async (sessionId: string, { token }: { readonly token: string } = developer) =>
  (
    await api.call<Schemas['CheckoutResult']>('GET', `/api/v2/dev/checkouts/${sessionId}`, undefined, {
      token,
    })
  ).body;
const count = async ({ developerId }: Developer = developer) => {
  const database = await connectTo(databaseUrl);
  const text = 'select count(*)::int as rows from checkouts where developer_id = $1';
  return (await database.query<{ rows: number }>(text, [developerId])).rows[0]!.rows;
};
/** The plan of a checkout. */
const chosen = async (body: object) => {
  const refusal = await create(body);
  expect(refusal.status, JSON.stringify(refusal.body)).toBe(200);
  return (await read(refusal.body.sessionId)).plan_id;
};

test('opens a payment page for an hour', async () => {
  const { status, body } = await create({ plan_name: monthly.name, period: 'monthly' });
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/pay\/cs_test_[\w-]{32}$/) as string,
    sessionId: expect.stringMatching(/^chk_[0-9a-z]{26}$/) as string,
  });
  expect(await read(body.sessionId)).toEqual({
    status: 'success',
    checkout_id: body.sessionId,
    plan_id: monthly.plan_id,
    reseller_id: null,
    url: body.url,
    state: 'open',
    amount: 19,
    currency: 'USD',
    created_at: clock.now().toISOString(),
    expires_at: new Date(clock.now().getTime() + 3_600_000).toISOString(),
    paid_at: null,
  });
  const page = await fetch(body.url);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('$19.00');
});

test('is in the audit log, without the URL of the page', async () => {
  const { body } = await create({ plan_name: monthly.plan_id });
  const [entry] = await auditLog(api, developer, `&target=${body.sessionId}`);
  expect(entry).toMatchObject({
    action: 'checkout.created',
    actor: { kind: 'developer', id: developer.developerId },
    data: { plan_id: monthly.plan_id, amount_minor: 1900, currency: 'USD', reseller_id: null },
  });
  expect(JSON.stringify(entry)).not.toContain('cs_test_');
});

describe('the plan', async () => {
  const name = unique('Both “Pro” 🦊');
  const [yearly, forEver, byMonth] = [
    await sellPlan(api, { name, period: 'yearly', price: 190 }),
    await sellPlan(api, { name, period: 'lifetime', price: 900 }),
    await sellPlan(api, { name, period: 'monthly' }),
  ];

  test('is that of the period, by default the monthly one', async () => {
    expect(await chosen({ plan_name: name })).toBe(byMonth.plan_id);
    expect(await chosen({ plan_name: name, period: 'monthly' })).toBe(byMonth.plan_id);
    expect(await chosen({ plan_name: name, period: 'yearly' })).toBe(yearly.plan_id);
    expect(await chosen({ plan_name: forEver.plan_id })).toBe(forEver.plan_id);
    expect(await chosen({ plan_name: yearly.plan_id })).toBe(yearly.plan_id);
  });

  test('is the lifetime one if there is no monthly one, and always for a pack', async () => {
    const once = unique('Once');
    const only = await sellPlan(api, { name: once, period: 'lifetime' });
    expect(await chosen({ plan_name: once })).toBe(only.plan_id);
    const monthly = { plan_name: once, period: 'monthly' };
    expectError(await api.post('/api/v1/checkout', monthly, await newDeveloper(api)), 400, 'PLAN_NOT_FOUND');
    const limited = await newDeveloper(api);
    const limit = await sellPlan(api, { max_licenses: 0 });
    await service.services.settlement.settle([paid(await openCheckout(api, limited, limit))], '127.0.0.1');
    const pack = await sellPlan(api, { kind: 'license_quota', period: 'lifetime', licenses: 10 });
    for (const period of ['monthly', 'yearly'] as const) await openCheckout(api, limited, pack, { period });
    const byYear = await sellPlan(api, { name: once, period: 'yearly' });
    expect(await chosen({ plan_name: once })).toBe(only.plan_id);
    expect(await chosen({ plan_name: once, period: 'yearly' })).toBe(byYear.plan_id);
  });

  test('PLAN_NOT_FOUND, as 400, for a name or a period that is not sold', async () => {
    const before = await count();
    const onlyYearly = await sellPlan(api, { period: 'yearly' });
    const archived = await sellPlan(api);
    await api.call('DELETE', `/api/v2/admin/plans/${archived.plan_id}`, undefined, ADMINISTRATOR);
    for (const body of [
      { plan_name: 'no such plan' },
      { plan_name: name.toUpperCase() },
      { plan_name: `${name} ` },
      { plan_name: '%' },
      { plan_name: onlyYearly.name, period: 'monthly' },
      { plan_name: onlyYearly.plan_id, period: 'monthly' },
      { plan_name: archived.name },
      { plan_name: archived.plan_id },
    ]) {
      expectError(await create(body), 400, 'PLAN_NOT_FOUND');
    }
    expect(await count()).toBe(before);
  });
});

describe('PLAN_NOT_APPLICABLE', () => {
  const expectUseless = async (refusal: Awaited<ReturnType<typeof create>>, detail: RegExp) => {
    expectError(refusal, 400, 'PLAN_NOT_APPLICABLE');
    expect(refusal.body.detail).toMatch(detail);
  };

  test('for a free plan', async () => {
    await expectUseless(await create({ plan_name: 'Free' }), /costs nothing/);
    await expectUseless(await create({ plan_name: 'free' }), /costs nothing/);
    const gift = await sellPlan(api, { price: 0 });
    await expectUseless(await create({ plan_name: gift.name }), /costs nothing/);
  });

  test('for license keys unless the plan limits them', async () => {
    const pack = await sellPlan(api, { kind: 'license_quota', period: 'lifetime', licenses: 10 });
    const buyer = await newDeveloper(api);
    await expectUseless(await create({ plan_name: pack.name }, buyer), /does not limit/);
    expect(await count(buyer)).toBe(0);
    await limitPlan(databaseUrl, buyer, { licenses: 5 });
    expect((await create({ plan_name: pack.name }, buyer)).status).toBe(200);
  });

  test('for a second subscription; a lifetime plan can still be bought, once', async () => {
    const buyer = await newDeveloper(api);
    await buy(api, buyer, monthly);
    await untilPaymentEventsProcessed(service);
    const other = await sellPlan(api, { period: 'yearly' });
    for (const plan of [monthly, other])
      await expectUseless(await create({ plan_name: plan.plan_id }, buyer), /already have a subscription/);
    const forEver = await sellPlan(api, { period: 'lifetime', price: 500 });
    await buy(api, buyer, forEver);
    await untilPaymentEventsProcessed(service);
    await expectUseless(
      await create({ plan_name: forEver.plan_id }, buyer),
      /already have this plan forever/,
    );
    expect((await create({ plan_name: monthly.plan_id }, buyer)).status).toBe(200);
  });
});

describe('a pack of balance', async () => {
  const pack = await sellPlan(api, { kind: 'reseller_balance', period: 'lifetime', balance: 100 });
  const owner = await newDeveloper(api);
  const body = { plan_name: pack.plan_id };

  test('is for the only reseller; with several, one must be named', async () => {
    expectFaults(await create(body, owner), '/reseller_id');
    const app = await newApp(api, owner);
    const first = await newReseller(api, app);
    const alone = await create(body, owner);
    expect((await read(alone.body.sessionId, owner)).reseller_id).toBe(first.reseller_id);
    const second = await newReseller(api, app);
    expectFaults(await create(body, owner), '/reseller_id');
    const named = await create({ ...body, reseller_id: second.reseller_id }, owner);
    expect((await read(named.body.sessionId, owner)).reseller_id).toBe(second.reseller_id);
  });

  test("RESELLER_NOT_FOUND is the same for another developer's and an absent one", async () => {
    const foreign = await newReseller(api, await newApp(api));
    const before = await count(owner);
    const absent = await create({ ...body, reseller_id: ABSENT_RESELLER }, owner);
    expectError(absent, 404, 'RESELLER_NOT_FOUND');
    const other = await create({ ...body, reseller_id: foreign.reseller_id }, owner);
    expect(comparable(other)).toEqual(comparable(absent));
    expect(await count(owner)).toBe(before);
  });

  test('PLAN_NOT_APPLICABLE for a balance in another currency', async () => {
    const merchant = await newDeveloper(api);
    const inEuro = await newReseller(api, await newApp(api, merchant), { currency: 'EUR' });
    for (const more of [{}, { reseller_id: inEuro.reseller_id }]) {
      const refusal = await create({ ...body, ...more }, merchant);
      expectError(refusal, 400, 'PLAN_NOT_APPLICABLE');
      expect(refusal.body.detail).toMatch(/EUR.*USD/);
    }
  });

  test('is the only product for a reseller', async () => {
    const { reseller_id } = await newReseller(api, await newApp(api, developer));
    expectFaults(await create({ plan_name: monthly.name, reseller_id }), '/reseller_id');
  });
});

describe('the return URLs', () => {
  test('are links on the page', async () => {
    const { body } = await create({
      plan_name: monthly.name,
      success_url: 'https://shop.example.com/thanks?a=1&b=2',
      cancel_url: 'http://shop.example.com:8080/cart',
    });
    expect(await (await fetch(body.url)).text()).toContain('href="http://shop.example.com:8080/cart"');
  });

  test('are pages of this service by default', async () => {
    const { body } = await create({ plan_name: monthly.name });
    expect(await (await fetch(body.url)).text()).toContain(`/checkout/${body.sessionId}"`);
  });

  const HOSTILE = [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)//https://shop.example.com',
    'data:text/html,<script>alert(1)</script>',
    'file:///etc/passwd',
    'ftp://shop.example.com',
    'https://ada:secret@shop.example.com/',
    'https://ada@shop.example.com/',
    'https://:secret@shop.example.com/',
    '/thanks',
    '//shop.example.com/thanks',
    'shop.example.com',
    'https://',
    'https://shop.example.com:99999/',
    '',
    `https://shop.example.com/${'a'.repeat(2049 - 'https://shop.example.com/'.length)}`,
    null,
    7,
  ];

  test.each(['success_url', 'cancel_url'])('%s is http or https, without credentials', async (member) => {
    const before = await count();
    for (const url of HOSTILE) {
      expectFaults(await create({ plan_name: monthly.name, [member]: url }), `/${member}`);
    }
    expect(await count()).toBe(before);
  });

  test('may have 2,048 characters, and all that a URL can have', async () => {
    const longest = `https://shop.example.com/${'a'.repeat(2048 - 'https://shop.example.com/'.length)}`;
    for (const success_url of [longest, 'https://läden.example/ß?q=🦊#"><script>', 'http://[::1]:8080/']) {
      const { status, body } = await create({
        plan_name: monthly.name,
        success_url,
        cancel_url: success_url,
      });
      expect(status).toBe(200);
      expect(await (await fetch(body.url)).text()).not.toContain('<script');
    }
  });
});

describe('VALIDATION_FAILED', () => {
  test.each<[string, unknown[]]>([
    ['plan_name', ['', 'x'.repeat(101), null, 7, {}, undefined]],
    ['period', ['lifetime', 'weekly', 'Monthly', '', null, 1]],
    ['reseller_id', ['', 'r'.repeat(65), null, 1]],
  ])('for %s', async (member, values) => {
    for (const value of values) {
      expectFaults(await create({ plan_name: monthly.name, [member]: value }), `/${member}`);
    }
  });

  test('not for a NUL, which no name contains', async () => {
    const refusal = await create({ plan_name: 'a\u0000b' });
    expect(refusal.status).toBe(400);
  });
});

test('an Idempotency-Key opens one page with two requests', async () => {
  const key = { 'idempotency-key': unique('key') };
  const before = await count();
  const body = { plan_name: monthly.name };
  const [first, second] = [await create(body, developer, key), await create(body, developer, key)];
  expect(second.body).toEqual(first.body);
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect(await count()).toBe(before + 1);
  expect((await fetch(first.body.url)).status).toBe(200);
  expectError(await create({ plan_name: 'Free' }, developer, key), 422, 'IDEMPOTENCY_KEY_REUSED');
});

test('UNAUTHORIZED and INSUFFICIENT_SCOPE', async () => {
  expectError(await create({ plan_name: monthly.name }, {}), 401, 'UNAUTHORIZED');
  expectError(await create({ plan_name: monthly.name }, ADMINISTRATOR), 401, 'UNAUTHORIZED');
  const bot = await newApiToken(api, developer, ['read', 'write']);
  expectError(await create({ plan_name: monthly.name }, bot), 403, 'INSUFFICIENT_SCOPE');
  const buyer = await newApiToken(api, developer, ['auth:dev']);
  expect((await create({ plan_name: monthly.name }, buyer)).status).toBe(200);
});

test('SERVICE_UNAVAILABLE with Retry-After while the processor fails; the unfinished checkout is hidden', async () => {
  const broken = createServer((_request, response) => response.writeHead(503).end());
  await new Promise<void>((resolve) => broken.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void broken.close());
  const { port } = broken.address() as AddressInfo;
  const other = await startTestService({
    STRIPE_SECRET_KEY: 'sk_test_51Unreachable',
    STRIPE_WEBHOOK_SECRET: 'whsec_test',
    STRIPE_API_URL: `http://127.0.0.1:${port}`,
  });
  const buyer = await newDeveloper(other.api);
  const plan = await sellPlan(other.api);
  const refusal = await other.api.post('/api/v1/checkout', { plan_name: plan.name }, buyer);
  expectError(refusal, 503, 'SERVICE_UNAVAILABLE');
  expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(0);
  const database = await connectTo(other.databaseUrl);
  const { rows } = await database.query<{ checkout_id: string }>('select checkout_id from checkouts');
  const path = `/api/v2/dev/checkouts/${rows[0]!.checkout_id}`;
  expectError(await other.api.call('GET', path, undefined, buyer), 404, 'CHECKOUT_NOT_FOUND');
});
