import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { openCheckout, paid, refunded, sellPlan } from '../../support/billing.ts';
import { newApp, newDeveloper, newUser, unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { limitPlan } from '../support/plans.ts';
import { newApiToken } from '../support/tokens.ts';

const { api, clock, databaseUrl, services } = await startTestService();

const me = (token: string | undefined) =>
  api.call<components['schemas']['DeveloperResult']>('GET', '/api/v2/dev/me', undefined, { token });

test('shows a new account and its unused quotas', async () => {
  const account = {
    email: `${unique('Grace')}@Example.com`,
    password: 'a developer password',
    name: 'Grace ✨',
  };
  const { body: session } = await api.post<components['schemas']['DeveloperSessionResult']>(
    '/api/v2/dev/register',
    account,
  );
  const { status, body } = await me(session.token);
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    developer_id: session.developer_id,
    email: account.email,
    name: account.name,
    created_at: clock.now().toISOString(),
    plan: { id: 'free', name: 'Free' },
    quotas: { apps: { limit: 25, used: 0 }, users_per_app: { limit: 100_000, used: 0 }, licenses: null },
    grace_ends_at: null,
    actor: { kind: 'developer', id: session.developer_id },
    scopes: ['read', 'write', 'auth:dev', 'agent:register', 'agent:execute'],
  });
});

test('counts applications, and users of the fullest one', async () => {
  const developer = await newDeveloper(api);
  const [first, second, gone] = [
    await newApp(api, developer),
    await newApp(api, developer),
    await newApp(api, developer),
  ];
  await newUser(api, first);
  await newUser(api, second);
  await newUser(api, second);
  for (let n = 0; n < 3; n += 1) await newUser(api, gone);
  expect((await me(developer.token)).body.quotas).toMatchObject({
    apps: { used: 3 },
    users_per_app: { used: 3 },
  });
  await api.call('DELETE', `/api/v2/dev/apps/${gone.app_id}`, undefined, developer);
  expect((await me(developer.token)).body.quotas).toMatchObject({
    apps: { used: 2 },
    users_per_app: { used: 2 },
  });
  expect((await me(developer.token)).body.name).toBeNull();
});

test('counts license keys if the plan limits them, including deleted ones', async () => {
  const developer = await newDeveloper(api);
  await limitPlan(databaseUrl, developer, { licenses: 5 });
  const app = await newApp(api, developer);
  await app.keys(3);
  expect((await me(developer.token)).body.quotas.licenses).toEqual({ limit: 5, used: 3 });
  await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}/licenses/unused`, undefined, developer);
  expect((await me(developer.token)).body.quotas.licenses).toEqual({ limit: 5, used: 3 });
});

test('shows the end of the grace period after a paid plan', async () => {
  const developer = await newDeveloper(api);
  const opened = await openCheckout(api, developer, await sellPlan(api, { period: 'lifetime' }));
  const settle = (...facts: Parameters<typeof services.settlement.settle>[0]) =>
    services.settlement.settle(facts, '127.0.0.1');
  await settle(paid(opened));
  expect((await me(developer.token)).body).toMatchObject({
    plan: { id: opened.plan.plan_id },
    grace_ends_at: null,
  });
  await settle(refunded(opened, 1900));
  expect((await me(developer.token)).body).toMatchObject({
    plan: { id: 'free' },
    grace_ends_at: inDays(clock, 14),
  });
});

test('describes the calling API token and its scopes', async () => {
  const developer = await newDeveloper(api);
  const { token_id, token } = await newApiToken(api, developer, ['read', 'write']);
  expect((await me(token)).body).toMatchObject({
    developer_id: developer.developerId,
    actor: { kind: 'api_token', id: token_id },
    scopes: ['read', 'write'],
  });
});

test('INSUFFICIENT_SCOPE and UNAUTHORIZED', async () => {
  const { token } = await newApiToken(api, await newDeveloper(api), ['write']);
  expectError(await me(token), 403, 'INSUFFICIENT_SCOPE');
  expectError(await me(undefined), 401, 'UNAUTHORIZED');
});
