import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import {
  ADMINISTRATOR,
  untilPaymentEventsProcessed,
  buy,
  invoicesOf,
  openCheckout,
  sellPlan,
  type CARDS,
} from '../../support/billing.ts';
import { newDeveloper, unique, type Developer } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

type Schemas = components['schemas'];
type Subscription = Schemas['PlanSubscriptionResult'];

const service = await startTestService();
const { api } = service;
const PATH = '/api/v2/dev/subscription';

const change = (body: unknown, { token }: { readonly token?: string }) =>
  api.call<Subscription & { detail?: string }>('PATCH', PATH, body, { token });
const get = async ({ token }: { readonly token: string }) =>
  (await api.call<Subscription>('GET', PATH, undefined, { token })).body;

const name = unique('Pro');
const pro = await sellPlan(api, { name, max_apps: 100 });
const yearly = await sellPlan(api, { name, price: 190, period: 'yearly' });
const small = await sellPlan(api, { price: 9 });
const large = await sellPlan(api, { price: 49, max_apps: 500 });

/** A developer who pays for Pro by the month. */
async function subscriber(card: keyof typeof CARDS = 'pays'): Promise<Developer> {
  const developer = await newDeveloper(api);
  await buy(api, developer, pro, card);
  await untilPaymentEventsProcessed(service);
  return developer;
}

/** Waits until a developer is on a plan. */
async function isOn(developer: Developer, planId: string): Promise<void> {
  await expect.poll(async () => (await get(developer)).plan_id).toBe(planId);
  await untilPaymentEventsProcessed(service);
}

describe('another plan', () => {
  test('costs the difference at once, and its quotas apply as soon as the event arrives', async () => {
    const developer = await subscriber();
    const before = await get(developer);
    const response = await change({ plan_name: large.name }, developer);
    expect(response.status).toBe(200);
    await isOn(developer, large.plan_id);
    expect(await get(developer)).toEqual({ ...before, plan_id: large.plan_id, plan_name: large.name });
    const { body } = await api.call<Schemas['DeveloperResult']>(
      'GET',
      '/api/v2/dev/me',
      undefined,
      developer,
    );
    expect(body).toMatchObject({ plan: { id: large.plan_id }, quotas: { apps: { limit: 500 } } });
    // The clock does not advance, so the whole period remains.
    expect((await invoicesOf(api, developer)).map(({ amount }) => amount)).toEqual([30, 19]);
  });

  test('that is cheaper gives a credit, which pays later invoices', async () => {
    const developer = await subscriber();
    expect((await change({ plan_name: small.plan_id }, developer)).status).toBe(200);
    await isOn(developer, small.plan_id);
    expect((await invoicesOf(api, developer)).map(({ amount }) => amount)).toEqual([0, 19]);
    await change({ plan_name: large.plan_id }, developer);
    await isOn(developer, large.plan_id);
    expect((await invoicesOf(api, developer)).map(({ amount }) => amount)).toEqual([30, 0, 19]);
  });

  test('can be the plan of the same name with another period', async () => {
    const developer = await subscriber();
    expect((await change({ period: 'yearly' }, developer)).status).toBe(200);
    await isOn(developer, yearly.plan_id);
    const { period, period_end } = await get(developer);
    const year = new Date(service.clock.now());
    year.setUTCFullYear(year.getUTCFullYear() + 1);
    expect([period, period_end]).toEqual(['yearly', year.toISOString()]);
    await change({ plan_name: name, period: 'monthly' }, developer);
    await isOn(developer, pro.plan_id);
  });

  test('that is the present one changes and costs nothing', async () => {
    const developer = await subscriber();
    const before = await get(developer);
    expect((await change({ plan_name: pro.plan_id }, developer)).body).toEqual(before);
    await untilPaymentEventsProcessed(service);
    expect(await invoicesOf(api, developer)).toHaveLength(1);
  });

  test('PLAN_NOT_FOUND, as 400, when it is not sold', async () => {
    const developer = await subscriber();
    const archived = await sellPlan(api);
    await api.call('DELETE', `/api/v2/admin/plans/${archived.plan_id}`, undefined, ADMINISTRATOR);
    for (const body of [
      { plan_name: 'no such plan' },
      { plan_name: archived.name },
      { plan_name: small.name, period: 'yearly' },
      { plan_name: 'no such plan', cancel_at_period_end: true },
    ]) {
      expectError(await change(body, developer), 400, 'PLAN_NOT_FOUND');
    }
    expect(await get(developer)).toMatchObject({ plan_id: pro.plan_id, cancel_at_period_end: false });
  });

  test('PLAN_NOT_APPLICABLE for a plan that a subscription cannot move to', async () => {
    const developer = await subscriber();
    const before = await get(developer);
    const none = [
      await sellPlan(api, { period: 'lifetime' }),
      await sellPlan(api, { kind: 'license_quota', period: 'lifetime', licenses: 1 }),
      await sellPlan(api, { kind: 'reseller_balance', period: 'lifetime', balance: 1 }),
      await sellPlan(api, { price: 0 }),
      await sellPlan(api, { currency: 'EUR' }),
      { plan_id: 'free' },
    ];
    for (const { plan_id } of none) {
      const response = await change({ plan_name: plan_id, cancel_at_period_end: true }, developer);
      expectError(response, 400, 'PLAN_NOT_APPLICABLE');
    }
    expect(await get(developer)).toEqual(before);
    expect(await invoicesOf(api, developer)).toHaveLength(1);
  });

  test('PAYMENT_DECLINED when the difference cannot be charged, and nothing changes', async () => {
    const developer = await subscriber('paysOnce');
    const before = await get(developer);
    expectError(await change({ plan_name: large.name }, developer), 402, 'PAYMENT_DECLINED');
    const both = { plan_name: large.name, cancel_at_period_end: true };
    expectError(await change(both, developer), 402, 'PAYMENT_DECLINED');
    await untilPaymentEventsProcessed(service);
    expect(await get(developer)).toEqual(before);
    expect(await invoicesOf(api, developer)).toHaveLength(1);
    expect(await auditLog(api, developer, '&action=subscription.changed')).toEqual([]);
  });
});

describe('a cancellation', () => {
  test('is visible at once, keeps the plan for the paid period, and can be revoked', async () => {
    const developer = await subscriber();
    const before = await get(developer);
    for (const cancel_at_period_end of [true, true, false, true]) {
      const { status, body } = await change({ cancel_at_period_end }, developer);
      expect(status).toBe(200);
      expect(body).toEqual({ ...before, cancel_at_period_end });
      await untilPaymentEventsProcessed(service);
      expect(await get(developer)).toEqual(body);
    }
  });

  test('can be combined with a move to another plan', async () => {
    const developer = await subscriber();
    await change({ plan_name: large.name, cancel_at_period_end: true }, developer);
    await isOn(developer, large.plan_id);
    expect(await get(developer)).toMatchObject({ cancel_at_period_end: true });
  });
});

test('SUBSCRIPTION_NOT_FOUND without a recurring one', async () => {
  const signedOut = await newDeveloper(api);
  expectError(await change({ cancel_at_period_end: true }, signedOut), 404, 'SUBSCRIPTION_NOT_FOUND');
  expectError(await change({ plan_name: 'no such plan' }, signedOut), 404, 'SUBSCRIPTION_NOT_FOUND');
  await openCheckout(api, signedOut, pro);
  expectError(await change({ cancel_at_period_end: true }, signedOut), 404, 'SUBSCRIPTION_NOT_FOUND');
  const owner = await newDeveloper(api);
  await buy(api, owner, await sellPlan(api, { period: 'lifetime' }));
  expectError(await change({ plan_name: pro.name }, owner), 404, 'SUBSCRIPTION_NOT_FOUND');
});

describe('VALIDATION_FAILED', async () => {
  const developer = await newDeveloper(api);

  test.each<[string, unknown[]]>([
    ['plan_name', ['', 'x'.repeat(101), null, 7, {}]],
    ['period', ['lifetime', 'Monthly', '', null, 1]],
    ['cancel_at_period_end', ['true', 0, null, {}]],
  ])('for %s', async (member, values) => {
    for (const value of values) expectFaults(await change({ [member]: value }, developer), `/${member}`);
  });

  test('for an empty change', async () => {
    expectError(await change({}, developer), 400, 'VALIDATION_FAILED');
  });
});

test('is in the audit log', async () => {
  const developer = await subscriber();
  await change({ plan_name: large.name, cancel_at_period_end: true }, developer);
  const { subscription_id } = await get(developer);
  expect(await auditLog(api, developer, `&target=${subscription_id}`)).toMatchObject([
    {
      action: 'subscription.changed',
      actor: { kind: 'developer', id: developer.developerId },
      data: { plan_id: large.plan_id, cancel_at_period_end: true },
    },
  ]);
  await isOn(developer, large.plan_id);
  const moves = await auditLog(api, developer, '&action=developer.plan_changed');
  expect(moves).toMatchObject([
    { actor: { kind: 'service', id: 'test' }, data: { from: pro.plan_id, to: large.plan_id } },
    { actor: { kind: 'service', id: 'test' }, data: { from: 'free', to: pro.plan_id } },
  ]);
});

test('UNAUTHORIZED and INSUFFICIENT_SCOPE', async () => {
  const developer = await newDeveloper(api);
  const body = { cancel_at_period_end: true };
  expectError(await change(body, {}), 401, 'UNAUTHORIZED');
  expectError(await change(body, ADMINISTRATOR), 401, 'UNAUTHORIZED');
  const bot = await newApiToken(api, developer, ['read', 'write']);
  expectError(await change(body, bot), 403, 'INSUFFICIENT_SCOPE');
});
