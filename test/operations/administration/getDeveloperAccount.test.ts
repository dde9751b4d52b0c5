import { expect, test } from 'vitest';
import { buy, sellPlan } from '../../support/billing.ts';
import { SECOND } from '../../support/clock.ts';
import { newApp, newDeveloper, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { accountOf, suspend } from '../support/developer-accounts.ts';
import { expectError } from '../support/errors.ts';

const { api, clock } = await startTestService();

test('shows the plan, what is used of it, the subscription and the last sign-in', async () => {
  const developer = await newDeveloper(api);
  const registered = clock.now().toISOString();
  const plan = await sellPlan(api, { max_apps: 7, max_users_per_app: 50, max_licenses: 20 });
  await buy(api, developer, plan);
  const app = await newApp(api, developer);
  await newUser(api, app);
  await app.keys(3);
  expect((await accountOf(api, developer.developerId)).body.last_sign_in_at).toBe(registered);
  clock.advance(60 * SECOND);
  const { email, password } = developer;
  await api.post('/api/v2/dev/login', { email, password });
  const { status, body } = await accountOf(api, developer.developerId);
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    developer_id: developer.developerId,
    email,
    email_verified: false,
    name: null,
    account_status: 'active',
    suspended_at: null,
    plan: { id: plan.plan_id, name: plan.name },
    apps: 1,
    created_at: registered,
    suspension_reason: null,
    applications_disabled: 0,
    quotas: {
      apps: { limit: 7, used: 1 },
      users_per_app: { limit: 50, used: 1 },
      licenses: { limit: 20, used: 3 },
    },
    subscription: expect.objectContaining({ plan_id: plan.plan_id, state: 'active', period: 'monthly' }),
    grace_ends_at: null,
    last_sign_in_at: clock.now().toISOString(),
  });
});

test('shows a suspension, and no subscription on the free plan', async () => {
  const developer = await newDeveloper(api);
  await suspend(api, developer.developerId, { reason: 'Chargebacks' });
  const { body } = await accountOf(api, developer.developerId);
  expect(body).toMatchObject({
    account_status: 'suspended',
    suspended_at: clock.now().toISOString(),
    suspension_reason: 'Chargebacks',
    subscription: null,
    plan: { id: 'free' },
    quotas: { licenses: null },
  });
});

test('DEVELOPER_NOT_FOUND and UNAUTHORIZED', async () => {
  const developer = await newDeveloper(api);
  expectError(await accountOf(api, 'dev_absent'), 404, 'DEVELOPER_NOT_FOUND');
  const path = `/api/v2/admin/developers/${developer.developerId}`;
  expectError(await api.call('GET', path, undefined, developer), 401, 'UNAUTHORIZED');
});
