import { beforeEach, describe, expect, test } from 'vitest';
import {
  ADMINISTRATOR,
  openCheckout,
  paid,
  refunded,
  sellPlan,
  subscribed,
  type Opened,
} from '../support/billing.ts';
import { DAY } from '../support/clock.ts';
import {
  newApp,
  newDeveloper,
  newHwid,
  newNonce,
  newUser,
  signed,
  unique,
  type App,
  type Developer,
  type User,
} from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const { api, clock, services } = await startTestService();
const { settle } = services.settlement;
const ADDRESS = '127.0.0.1';
const GRACE = 14 * DAY;

const FREE = { max_apps: 2, max_users_per_app: 3, max_licenses: 5 };
const setFree = async (changes: object) => {
  const { status } = await api.call('PATCH', '/api/v2/admin/plans/free', changes, ADMINISTRATOR);
  expect(status).toBe(200);
};
beforeEach(() => setFree(FREE));

const forever = await sellPlan(api, { period: 'lifetime', price: 490 });
const monthly = await sellPlan(api);
const small = await sellPlan(api, { period: 'lifetime', price: 90, max_apps: 3, max_users_per_app: 4 });

/** A developer's token lasts for a day. */
async function anew<Owner extends Developer>(developer: Owner): Promise<Owner> {
  const { email, password } = developer;
  const { body } = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
  return { ...developer, token: body.token };
}

async function buys(developer: Developer, plan = forever): Promise<Opened> {
  const opened = await openCheckout(api, developer, plan);
  await settle([paid(opened)], ADDRESS);
  return opened;
}

const lapses = (opened: Opened) => settle([refunded(opened, opened.plan.price * 100)], ADDRESS);

const codeOf = ({ status, body }: { status: number; body: object }) =>
  (body as { code?: string }).code ?? status;
const makeApp = async (developer: Developer) =>
  codeOf(await api.post('/api/v2/dev/apps', { name: unique('App') }, developer));
const makeKey = async (app: App, { token }: { token: string } = app) =>
  codeOf(
    await api.post(
      `/api/v2/dev/apps/${app.app_id}/licenses`,
      { amount: 1, tier: 'Pro', duration_days: null },
      { token },
    ),
  );
const register = async (app: App) =>
  codeOf(
    await api.register(app.with({ username: unique('user'), password: 'a user password', hwid: newHwid() })),
  );

describe('quotas follow the plan at once', () => {
  async function crowd() {
    const developer = await newDeveloper(api);
    const app = await newApp(api, developer);
    await makeApp(developer);
    for (let n = 0; n < FREE.max_users_per_app; n += 1) await newUser(api, app);
    for (let n = 0; n < FREE.max_licenses; n += 1) await makeKey(app);
    return { developer, app };
  }

  const all = async ({ developer, app }: Awaited<ReturnType<typeof crowd>>) => [
    await makeApp(developer),
    await register(app),
    await makeKey(app, developer),
  ];
  const REFUSED = ['QUOTA_EXCEEDED', 'QUOTA_EXCEEDED', 'QUOTA_EXCEEDED'];
  const MADE = [201, 201, 201];

  test('with the settlement, and with its refund', async () => {
    const scene = await crowd();
    expect(await all(scene)).toEqual(REFUSED);
    const opened = await buys(scene.developer);
    expect(await all(scene)).toEqual(MADE);
    expect(await all(scene)).toEqual(MADE);
    await lapses(opened);
    expect(await all(scene)).toEqual(REFUSED);
    // Keys created without a limit do not count against one.
    const { licenses } = await services.developers.account(scene.developer.developerId);
    expect(licenses).toEqual({ limit: 5, used: 5 });
  });

  test('with the end of a subscription, but not with a late renewal', async () => {
    const scene = await crowd();
    const opened = await buys(scene.developer, monthly);
    const at = (days: number) => new Date(clock.now().getTime() + days * DAY);
    await settle([subscribed(opened, at(0), at(30), { state: 'past_due' })], ADDRESS);
    expect(await all(scene)).toEqual(MADE);
    await settle([subscribed(opened, at(1), at(1), { state: 'ended' })], ADDRESS);
    expect(await all(scene)).toEqual(REFUSED);
  });

  test('of a smaller plan that replaces a larger one, and of one that the administrator changes', async () => {
    const scene = await crowd();
    const first = await buys(scene.developer);
    expect(await all(scene)).toEqual(MADE);
    await buys(scene.developer, small);
    await lapses(first);
    expect((await all(scene)).slice(0, 2)).toEqual(REFUSED.slice(0, 2));
    await api.call(
      'PATCH',
      `/api/v2/admin/plans/${small.plan_id}`,
      { max_apps: 4, max_users_per_app: 5, max_licenses: 1_000 },
      ADMINISTRATOR,
    );
    expect(await all(scene)).toEqual(MADE);
    await setFree({ max_apps: 100 });
    expect((await all(scene)).slice(0, 2)).toEqual(REFUSED.slice(0, 2));
  });
});

/** A user with every way to log in. */
interface Guest {
  readonly app: App;
  readonly user: User;
  readonly key: string;
  readonly hwid: string;
}

/** A user with a password and one with a key: two seats. */
async function newGuest(app: App): Promise<Guest> {
  const user = await newUser(api, app);
  const [key] = await app.keys(1, 'Pro', null);
  const hwid = newHwid();
  const { status } = await api.loginWithLicense({ app_id: app.app_id, license_key: key!, hwid });
  expect(status).toBe(200);
  return { app, user, key: key!, hwid };
}

/** The results of a guest's logins: v1, v2, and with a license. */
async function comesIn({ app, user, key, hwid }: Guest): Promise<readonly (string | number)[]> {
  const wanted = { app_id: app.app_id, ...user, nonce: newNonce() };
  return [
    codeOf(await api.login(app.with(user))),
    codeOf(await api.loginV2(...signed(app, wanted, { at: clock.now() }))),
    codeOf(await api.loginWithLicense({ app_id: app.app_id, license_key: key, hwid })),
  ];
}

const IN = [200, 200, 200];
const OUT = ['QUOTA_EXCEEDED', 'QUOTA_EXCEEDED', 'QUOTA_EXCEEDED'];

describe('after a plan has lapsed', () => {
  /** Applications by age, under a plan that has just lapsed: one too many, and the first one with too many users. */
  async function lapsed() {
    const developer = await newDeveloper(api);
    const opened = await buys(developer);
    const guests: Guest[] = [];
    for (let n = 0; n < 3; n += 1) {
      guests.push(await newGuest(await newApp(api, developer)));
      clock.advance(1);
    }
    const [crowded, fitting, last] = guests as [Guest, Guest, Guest];
    const surplus = [await newUser(api, crowded.app), await newUser(api, crowded.app)];
    await lapses(opened);
    return { developer, crowded, fitting, last, surplus, all: [crowded, fitting, last] };
  }
  const comeIn = async (guests: readonly Guest[]) => {
    const responses = [];
    for (const guest of guests) responses.push(await comesIn(guest));
    return responses;
  };

  test('logins continue for 14 days, then not in applications above the quotas; live sessions continue', async () => {
    const { developer, crowded, all } = await lapsed();
    const account = await services.developers.account(developer.developerId);
    expect(account.graceEndsAt).toEqual(new Date(clock.now().getTime() + GRACE));
    // No new user is admitted in this time.
    expect(await register(crowded.app)).toBe('QUOTA_EXCEEDED');
    expect(await comeIn(all)).toEqual([IN, IN, IN]);
    clock.advance(GRACE - 1);
    expect(await comeIn(all)).toEqual([IN, IN, IN]);
    const sessions = [];
    for (const { app, user } of all) sessions.push((await api.login(app.with(user))).body.token);
    clock.advance(1);
    for (const [index, { app }] of all.entries()) {
      const { body } = await api.verify({ app_id: app.app_id, token: sessions[index]! });
      expect(body).toMatchObject({ valid: true });
    }
    expect(await comeIn(all)).toEqual([OUT, IN, OUT]);
    clock.advance(365 * DAY);
    expect(await comeIn(all)).toEqual([OUT, IN, OUT]);
  });

  test('a smaller plan also starts 14 days, which another small plan does not extend', async () => {
    const { developer, all } = await lapsed();
    const tiny = await sellPlan(api, { period: 'lifetime', price: 1, max_apps: 3, max_users_per_app: 1 });
    clock.advance(DAY);
    await buys(await anew(developer), tiny);
    clock.advance(GRACE - DAY - 1);
    expect(await comeIn(all)).toEqual([IN, IN, IN]);
    clock.advance(1);
    // The application that fit the free plan has 14 days of its own, from the plan that it does not fit.
    expect(await comeIn(all)).toEqual([OUT, IN, OUT]);
    clock.advance(DAY);
    expect(await comeIn(all)).toEqual([OUT, OUT, OUT]);
    await buys(await anew(developer));
    expect(await comeIn(all)).toEqual([IN, IN, IN]);
  });

  test('deleting users, or an older application, frees seats at once', async () => {
    const { developer, crowded, last, surplus, all } = await lapsed();
    clock.advance(GRACE + 1);
    const { token } = await anew(developer);
    const own = `/api/v2/dev/apps/${crowded.app.app_id}`;
    const { body } = await api.call<{ data: { user_id: string; username: string }[] }>(
      'GET',
      `${own}/users`,
      undefined,
      { token },
    );
    const unwanted = body.data.find(({ username }) => username === surplus[0]!.username)!;
    expect(await comesIn(crowded)).toEqual(OUT);
    expect((await api.call('DELETE', `${own}/users/${unwanted.user_id}`, undefined, { token })).status).toBe(
      200,
    );
    expect(await comeIn(all)).toEqual([IN, IN, OUT]);
    expect((await api.call('DELETE', own, undefined, { token })).status).toBe(200);
    expect(await comesIn(last)).toEqual(IN);
  });

  test('a new plan lifts the refusal at once, and its own end starts 14 days again', async () => {
    const { developer, all } = await lapsed();
    clock.advance(GRACE + 1);
    expect(await comeIn(all)).toEqual([OUT, IN, OUT]);
    const opened = await buys(await anew(developer), monthly);
    expect(await comeIn(all)).toEqual([IN, IN, IN]);
    clock.advance(3 * DAY);
    const later = new Date(clock.now());
    await settle([subscribed(opened, later, later, { state: 'ended' })], ADDRESS);
    clock.advance(GRACE - 1);
    expect(await comeIn(all)).toEqual([IN, IN, IN]);
    clock.advance(1);
    expect(await comeIn(all)).toEqual([OUT, IN, OUT]);
  });

  test('a repeated event of the end does not restart the 14 days', async () => {
    const developer = await newDeveloper(api);
    const opened = await buys(developer);
    const guest = await newGuest(await newApp(api, developer));
    await newUser(api, guest.app);
    await newUser(api, guest.app);
    await lapses(opened);
    clock.advance(GRACE - 1);
    await lapses(opened);
    await settle([paid(opened)], ADDRESS);
    expect(await comesIn(guest)).toEqual(IN);
    clock.advance(1);
    expect(await comesIn(guest)).toEqual(OUT);
  });

  test('a plan with larger quotas lifts the refusal at once', async () => {
    const { all } = await lapsed();
    clock.advance(GRACE);
    expect(await comeIn(all)).toEqual([OUT, IN, OUT]);
    await setFree({ max_users_per_app: 4 });
    expect(await comeIn(all)).toEqual([IN, IN, OUT]);
    await setFree({ max_apps: 3 });
    expect(await comeIn(all)).toEqual([IN, IN, IN]);
    await setFree(FREE);
    expect(await comeIn(all)).toEqual([OUT, IN, OUT]);
  });
});
