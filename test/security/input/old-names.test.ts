import { describe, expect, test } from 'vitest';
import { ADMINISTRATOR, sellPlan } from '../../support/billing.ts';
import { ban, lift, newApp, newDeveloper, newHwid, newUser, unique } from '../../support/fixtures.ts';
import { beginAuthorization, Browser, newClient } from '../../support/oauth.ts';
import { startTestService } from '../../support/service.ts';

const service = await startTestService();
const { api } = service;
const { knex } = service.database;
const developer = await newDeveloper(api);

describe('names that were stored before the rule', () => {
  test('a user can log in, activate a key and be deleted', async () => {
    const app = await newApp(api, developer);
    const user = await newUser(api, app);
    const old = 'admin\u2800';
    await knex('users').where({ username: user.username }).update({ username: old, username_key: old });
    const { status, body } = await api.login(app.with({ ...user, username: old }));
    expect({ status, username: body.user?.username }).toEqual({ status: 200, username: old });
    const verified = await api.verify({ app_id: app.app_id, token: body.token, hwid: user.hwid });
    expect(verified.body).toMatchObject({ valid: true, username: old });
    const license_key = (await app.keys(1))[0]!;
    expect((await api.activate(app.with({ username: old, license_key }))).status).toBe(200);
    const path = `/api/v2/dev/apps/${app.app_id}/users/${body.user!.id}`;
    const shown = await api.call<{ username: string }>('GET', path, undefined, app);
    expect(shown.body.username).toBe(old);
    expect((await api.call('DELETE', path, undefined, app)).status).toBe(200);
  });

  test('two users with look-alike names stay separate, and a third one is refused', async () => {
    const app = await newApp(api, developer);
    const [one, other] = [await newUser(api, app), await newUser(api, app)];
    const name = unique('admin');
    const twin = name.replace('a', 'а');
    for (const [user, now] of [
      [one, name],
      [other, twin],
    ] as const) {
      await knex('users')
        .where({ username: user.username })
        .update({ username: now, username_key: now, username_look: null });
    }
    for (const [user, now] of [
      [one, name],
      [other, twin],
    ] as const) {
      const { status, body } = await api.login(app.with({ ...user, username: now }));
      expect({ status, username: body.user?.username }).toEqual({ status: 200, username: now });
    }
    const third = { username: name.replace('i', 'і'), password: 'a user password', hwid: newHwid() };
    expect((await api.register(app.with(third))).status).toBe(409);
  });

  test('a machine stays bound, and no new one can be bound', async () => {
    const app = await newApp(api, developer);
    const user = await newUser(api, app);
    const hwid = 'disk-\ufffd-1';
    // A ban stores the digest of what it bans.
    const banId = await ban(api, app, { kind: 'hardware', hwid });
    const { hwid_digest } = await knex('bans').where({ ban_id: banId }).first('hwid_digest');
    await lift(api, app, banId);
    const refused = { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ pointer: '/hwid' }] } };

    await knex('users').where({ username: user.username }).update({ hwid_digest: null });
    expect(await api.login(app.with({ ...user, hwid }))).toMatchObject(refused);
    const license_key = (await app.keys(1))[0]!;
    const keyed = await api.post('/api/v2/client/login-license', { app_id: app.app_id, license_key, hwid });
    expect(keyed).toMatchObject(refused);

    await knex('users').where({ username: user.username }).update({ hwid_digest });
    const { status, body } = await api.login(app.with({ ...user, hwid }));
    expect(status).toBe(200);
    const verified = await api.verify({ app_id: app.app_id, token: body.token, hwid });
    expect(verified.body).toMatchObject({ valid: true });

    await app.patch({ hwid_lock: false });
    expect(await api.login(app.with({ ...user, hwid: 'disk-\ufffd-2' }))).toMatchObject(refused);
  });

  test('an application and its tiers can be read, used, reordered and removed', async () => {
    const app = await newApp(api, developer);
    const path = `/api/v2/dev/apps/${app.app_id}`;
    const tiers = ['Pro', 'PRO', 'Pro ', '\u3164'];
    await knex('applications')
      .where({ app_id: app.app_id })
      .update({ name: '\u3164', tiers: knex.raw('?::text[]', [tiers]) });
    const shown = await api.call('GET', path, undefined, app);
    expect(shown).toMatchObject({ status: 200, body: { name: '\u3164', tiers } });
    for (const tier of tiers) await app.keys(1, tier);
    await app.patch({ tiers: tiers.toReversed() });
    const more = await api.call('PATCH', path, { tiers: [...tiers, 'pRO'] }, app);
    expect(more).toMatchObject({ status: 400, body: { errors: [{ pointer: '/tiers/4' }] } });
    await app.patch({ tiers: ['Pro', 'VIP'] });
  });

  test('a file can be replaced and deleted, but not created', async () => {
    const app = await newApp(api, developer);
    const files = `/api/v2/dev/apps/${app.app_id}/files`;
    const upload = (name: string) =>
      api.call('PUT', `${files}/${encodeURIComponent(name)}`, 'content', {
        token: app.token,
        headers: { 'content-type': 'application/octet-stream' },
      });
    for (const name of ['\u3164', 'setup\ufffd.exe', '\u2800.exe']) {
      expect(await upload(name)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED', errors: [{ pointer: 'path/file_name' }] },
      });
    }
    expect((await upload('setup.exe')).status).toBeLessThan(300);
    await knex('files').where({ app_id: app.app_id }).update({ name: '\u3164' });
    expect((await upload('\u3164')).status).toBeLessThan(300);
    const gone = await api.call('DELETE', `${files}/${encodeURIComponent('\u3164')}`, undefined, app);
    expect(gone.status).toBe(200);
  });

  test('the consent page names a client by its identifier', async () => {
    const registered = await newClient(api, developer);
    await knex('oauth_clients').where({ client_id: registered.client_id }).update({ name: '\u3164' });
    const listed = await api.call(
      'GET',
      `/api/v2/dev/oauth-clients/${registered.client_id}`,
      undefined,
      developer,
    );
    expect(listed.body).toMatchObject({ name: '\u3164' });
    const { url } = await beginAuthorization(service.baseUrl, registered);
    const browser = new Browser(service.baseUrl);
    const signIn = await browser.open(url);
    expect(signIn.html).toContain(registered.client_id);
    const { email, password } = developer;
    const consent = await browser.send(signIn, { email, password, action: 'sign-in' });
    expect(consent.html).toContain(`Allow ${registered.client_id} to act for you?`);
    expect(consent.html).not.toContain('\u3164');
  });
});

test('two plans cannot have look-alike names', async () => {
  const name = unique('Team');
  const plan = await sellPlan(api, { name, period: 'monthly' });
  const terms = { price: 5, period: 'yearly' };
  for (const like of [name.toUpperCase(), `${name} `, name.replace('e', 'е')]) {
    const made = await api.post('/api/v2/admin/plans', { ...terms, name: like }, ADMINISTRATOR);
    expect(made).toMatchObject({ status: 409, body: { code: 'PLAN_NAME_TAKEN' } });
  }
  expect((await api.post('/api/v2/admin/plans', { ...terms, name }, ADMINISTRATOR)).status).toBe(201);
  const other = await sellPlan(api);
  const path = `/api/v2/admin/plans/${other.plan_id}`;
  const renamed = await api.call('PATCH', path, { name: name.toUpperCase() }, ADMINISTRATOR);
  expect(renamed).toMatchObject({ status: 409, body: { code: 'PLAN_NAME_TAKEN' } });
  const same = await api.call(
    'PATCH',
    `/api/v2/admin/plans/${plan.plan_id}`,
    { name, price: 7 },
    ADMINISTRATOR,
  );
  expect(same.status).toBe(200);
});

test('an import refuses unreadable names and roles, and look-alike names', async () => {
  const app = await newApp(api, developer);
  const first = await newUser(api, app, { username: 'admin' });
  const send = (...rows: string[]) =>
    api.call<{ errors?: { pointer: string }[] }>(
      'POST',
      `/api/v2/dev/apps/${app.app_id}/users/import`,
      ['username,role', ...rows].join('\n'),
      {
        token: app.token,
        headers: { 'content-type': 'text/csv' },
      },
    );
  const faulty = await send('a\u2800,', 'a\ufffd,', 'ok,\u3164', 'pascal,', 'pаscal,');
  expect(faulty.status).toBe(400);
  expect(faulty.body.errors?.map(({ pointer }) => pointer)).toEqual([
    '/line/2',
    '/line/3',
    '/line/4',
    '/line/6',
  ]);
  expect(await send('ada,', 'аdmin,')).toMatchObject({
    status: 409,
    body: { code: 'USERNAME_TAKEN', errors: [{ pointer: '/line/3' }] },
  });
  expect((await send('ada,', 'Вера,')).status).toBe(201);
  expect((await api.login(app.with(first))).status).toBe(200);
});
