import { expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { ban, newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { testForeignUsers } from '../support/foreign-users.ts';
import { inDays } from '../support/journeys.ts';
import { callUsers, registered, viewOf, type UserView } from '../support/users.ts';

const service = await startTestService();
const { api, clock } = service;

testForeignUsers(service, 'GET', '');

test('shows all periods in wall time, live sessions and the ban in force', async () => {
  const app = await newApp(api);
  const [standard] = await app.keys(1, 'Standard', 30);
  const [vip] = await app.keys(1, 'VIP', 10);
  const user = await registered(api, app, { license_key: standard, email: 'ada@example.com' });
  await api.activate(app.with({ username: user.username, license_key: vip! }));
  await api.login(app.with(user));
  expect(await viewOf(api, app, user.userId)).toMatchObject({
    user_id: user.userId,
    username: user.username,
    email: 'ada@example.com',
    password_state: 'set',
    hwid_bound: true,
    subscription: {
      subscription_status: 'active',
      tier: 'VIP',
      expires_at: inDays(clock, 10),
      periods: [
        { tier: 'VIP', starts_at: inDays(clock, 0), expires_at: inDays(clock, 10) },
        { tier: 'Standard', starts_at: inDays(clock, 10), expires_at: inDays(clock, 40) },
      ],
    },
    live_sessions: 1,
    ban: null,
  });
  const banId = await ban(api, app, {
    kind: 'user',
    username: user.username,
    reason: 'Shared',
    expires_at: inDays(clock, 1),
  });
  expect(await viewOf(api, app, user.userId)).toMatchObject({
    live_sessions: 0,
    ban: { ban_id: banId, reason: 'Shared', expires_at: inDays(clock, 1) },
  });
  await ban(api, app, { kind: 'hardware', hwid: user.hwid });
  clock.advance(DAY - 1);
  expect((await viewOf(api, app, user.userId)).ban).not.toBeNull();
});

test('ends of subscriptions move while the application is paused; one that has ended is expired', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const [key] = await app.keys(1, 'Pro', 2);
  const { userId } = await registered(api, app, { license_key: key });
  const before = clock.now();
  await app.patch({ paused: true });
  clock.advance(DAY / 2);
  expect((await viewOf(api, app, userId)).subscription.expires_at).toBe(inDays(clock, 2));
  await app.patch({ paused: false });
  clock.advance(2 * DAY);
  const { body } = await api.post<{ token: string }>('/api/v2/dev/login', developer);
  const { body: user } = await callUsers<UserView>(api, { ...app, token: body.token }, 'GET', `/${userId}`);
  expect(user.subscription).toEqual({
    subscription_status: 'expired',
    tier: null,
    expires_at: null,
    ends_at: user.subscription.periods.at(-1)!.expires_at,
    periods: [
      {
        tier: 'Pro',
        starts_at: new Date(before.getTime() + DAY / 2).toISOString(),
        expires_at: new Date(before.getTime() + 2.5 * DAY).toISOString(),
      },
    ],
  });
});

test('contains no secret', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  const { body: session } = await api.login(app.with(user));
  const text = JSON.stringify(await viewOf(api, app, user.userId));
  for (const secret of [user.password, user.hwid, session.token, session.session_id, '$argon2']) {
    expect(text).not.toContain(secret);
  }
});
