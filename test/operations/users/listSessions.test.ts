import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY, SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { callUsers, registered } from '../support/users.ts';

const service = await startTestService();
const { api, clock, services } = service;

type List = components['schemas']['SessionList'];

const list = ({ app_id, token }: Pick<App, 'app_id' | 'token'>, query = '') =>
  api.call<List>('GET', `/api/v2/dev/apps/${app_id}/sessions${query}`, undefined, { token });

test('live sessions of all users, newest first, without anything that can be used as a session', async () => {
  const app = await newApp(api);
  const [ada, grace] = [await registered(api, app), await registered(api, app)];
  const first = await api.login(app.with({ ...ada, version: '1.4.0' }));
  clock.advance(SECOND);
  const second = await api.login(app.with(grace));
  const { status, body } = await list(app);
  expect(status).toBe(200);
  expect(body.data.map(({ username }) => username)).toEqual([grace.username, ada.username]);
  expect(body.data[1]).toEqual({
    session_ref: expect.stringMatching(/^ses_[0-7][0-9a-z]{25}$/),
    user_id: ada.userId,
    username: ada.username,
    began_at: new Date(clock.now().getTime() - SECOND).toISOString(),
    expires_at: new Date(clock.now().getTime() - SECOND + DAY).toISOString(),
    last_seen_at: new Date(clock.now().getTime() - SECOND).toISOString(),
    machine: expect.stringMatching(/^[0-9a-f]{8}$/),
    version: '1.4.0',
    address: '127.0.0.1',
  });
  expect(body.data[0]).toMatchObject({ version: null });
  for (const { token, session_id } of [first.body, second.body]) {
    expect(JSON.stringify(body)).not.toContain(token);
    expect(JSON.stringify(body)).not.toContain(session_id);
  }
});

test('pages without gaps or overlaps, and nothing that has ended or expired', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const names: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const user = await registered(api, app);
    const { body } = await api.login(app.with(user));
    if (n === 2) await api.logout({ app_id: app.app_id, token: body.token });
    else names.unshift(user.username);
    // Two sessions begin at the same time.
    if (n !== 3) clock.advance(SECOND);
  }
  const found: string[] = [];
  let cursor = '';
  do {
    const { body } = await list(app, `?limit=1${cursor && `&cursor=${cursor}`}`);
    found.push(...body.data.map(({ username }) => username));
    cursor = body.next_cursor ?? '';
  } while (cursor);
  expect(found.toSorted()).toEqual(names.toSorted());
  expect(found.slice(2)).toEqual(names.slice(2));
  clock.advance(DAY - 2 * SECOND);
  const { token } = (await api.post<{ token: string }>('/api/v2/dev/login', developer)).body;
  expect((await list({ ...app, token })).body.data).toHaveLength(2);
});

test('last_seen_at follows verifications, in the background', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  const { body: session } = await api.login(app.with(user));
  const verify = () => api.verify({ app_id: app.app_id, token: session.token });
  const seen = async () => Date.parse((await list(app)).body.data[0]!.last_seen_at);
  const began = clock.now().getTime();
  clock.advance(60 * SECOND);
  await verify();
  await services.lastUses.writeAll();
  expect(await seen()).toBe(began + 60 * SECOND);
  clock.advance(60 * SECOND);
  await verify();
  await services.lastUses.writeAll();
  expect(await seen()).toBe(began + 120 * SECOND);
  expectError(await api.verify({ app_id: app.app_id, token: `${session.token}x` }), 401, 'SESSION_INVALID');
  const { body } = await callUsers<List>(api, app, 'GET', `/${user.userId}/sessions`);
  expect(Date.parse(body.data[0]!.last_seen_at)).toBe(began + 120 * SECOND);
});

test('a verification does not wait for a locked session, whose row is written later', async () => {
  const app = await newApp(api);
  const { body: session } = await api.login(app.with(await registered(api, app)));
  const database = await connectTo(service.databaseUrl);
  await database.query('begin');
  await database.query('select from sessions where app_id = $1 for update', [app.app_id]);
  clock.advance(SECOND);
  expect((await api.verify({ app_id: app.app_id, token: session.token })).status).toBe(200);
  await services.lastUses.writeAll();
  await database.query('commit');
});

test('a page and the end of one session read one index', async () => {
  const database = await connectTo(service.databaseUrl);
  await database.query('set enable_seqscan = off');
  const planOf = async (sql: string) =>
    (await database.query<{ 'QUERY PLAN': string }>(`explain ${sql}`)).rows
      .map((row) => row['QUERY PLAN'])
      .join('\n');
  const page = await planOf(
    `select * from sessions where app_id = 'a' and ended_at is null and expires_at > now()
       and (expires_at, session_digest) < (now(), '\\x00') order by expires_at desc, session_digest desc limit 21`,
  );
  expect(page).toContain('Index Scan Backward using sessions_live');
  expect(page).not.toContain('Sort');
  const one = await planOf(
    `select session_digest from sessions where session_digest >= '\\x00' and session_digest <= '\\x00ff'
     order by session_digest limit 1`,
  );
  expect(one).toContain('using sessions_pkey');
});

test('VALIDATION_FAILED and APPLICATION_NOT_FOUND', async () => {
  const app = await newApp(api);
  for (const text of ['x', '1 ses_x', '9999999999999999 ses_00000000000000000000000000', 'usr_1']) {
    const cursor = Buffer.from(text).toString('base64url');
    expectFaults(await list(app, `?cursor=${cursor}`), 'query/cursor');
  }
  expectFaults(await list(app, '?limit=101'), 'query/limit');
  const { token } = await newDeveloper(api);
  expectError(await list({ ...app, token }), 404, 'APPLICATION_NOT_FOUND');
});
