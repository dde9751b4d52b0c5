import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { clearDeletedApplication } from '../../../src/app/housekeeping.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, newHwid, newUser, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { licensesOf, redeemed, scoped } from '../support/licenses.ts';
import { limitPlan } from '../support/plans.ts';

type License = components['schemas']['License'];

const service = await startTestService();
const { api } = service;
const HEADER = 'license_key,tier,duration_days,note,redeem_by,status';
const csv = (...lines: string[]) => [HEADER, ...lines, ''].join('\n');

test('keys of another system are imported unchanged, and work in any notation', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const { status, body } = await licenses.import(
    csv(
      'OLD-KEY-7F3A-99C1,Pro,30,From the old shop,2027-01-31T01:00:00+01:00,unused',
      '{8c1d-oil7},VIP,,,,',
      'banned-key-1,Standard,1," a ""note"", in\n2 lines ",,banned',
    ),
  );
  expect({ status, body }).toEqual({ status: 201, body: { status: 'success', imported: 3 } });
  const { data } = (await licenses.list()).body;
  const shown = data.map(({ license_key, tier, duration_days, note, redeem_by, status: state }) => {
    return [license_key, tier, duration_days, note, redeem_by, state];
  });
  expect(shown.reverse()).toEqual([
    ['OLD-KEY-7F3A-99C1', 'Pro', 30, 'From the old shop', '2027-01-31T00:00:00.000Z', 'unused'],
    ['{8c1d-oil7}', 'VIP', null, null, null, 'unused'],
    ['banned-key-1', 'Standard', 1, ' a "note", in\n2 lines ', null, 'banned'],
  ]);
  const { username } = await newUser(api, app);
  const activate = (license_key: string) => api.activate(app.with({ username, license_key }));
  expect((await activate('old key 7f3a 99ci')).status).toBe(200);
  expect((await activate('{8C1D0117}')).status).toBe(200);
  expectError(await activate('BANNEDKEY1'), 400, 'LICENSE_UNUSABLE');
});

test('QUOTA_EXCEEDED exactly beyond the plan, and nothing is imported', async () => {
  const developer = await newDeveloper(api);
  const licenses = licensesOf(api, await newApp(api, developer));
  await limitPlan(service.databaseUrl, developer, { licenses: 3 });
  const keys = (...names: string[]) => csv(...names.map((name) => `QUOTA-KEY-${name},Pro,30,,,unused`));
  expectError(await licenses.import(keys('0001', '0002', '0003', '0004')), 403, 'QUOTA_EXCEEDED');
  expect((await licenses.list()).body.data).toEqual([]);
  expect((await licenses.import(keys('0001', '0002', '0003'))).status).toBe(201);
  expectError(await licenses.import(keys('0004')), 403, 'QUOTA_EXCEEDED');
  expect((await licenses.list()).body.data).toHaveLength(3);
});

test('a table of a spreadsheet: byte order mark, CRLF, quotes, empty lines, other columns', async () => {
  const licenses = licensesOf(api, await newApp(api));
  const table =
    '\ufeffduration_days,"tier", license_key \r\n"30","Pro"," AAAA-BBBB "\r\n\r\n,Pro,CCCC-DDDD\r\n';
  expect((await licenses.import(table)).body).toMatchObject({ imported: 2 });
  const { data } = (await licenses.list()).body;
  expect(data.map(({ license_key, duration_days }) => [license_key, duration_days])).toEqual([
    ['CCCC-DDDD', null],
    ['AAAA-BBBB', 30],
  ]);
});

test('a text that an export has prefixed with an apostrophe is imported exactly', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const notes = ['=1+1', "'=1+1", "''@x", '-5', '+x', '\tx', '\rx', "'plain", 'a=b', ' =1', '\r\n', '🦊,"'];
  for (const note of notes) await licensesOf(api, app).create(1, { note });
  const exported = (await licensesOf(api, app).export()).body;
  const { data } = (await licensesOf(api, app).list()).body;
  expect(exported).toContain(",'=1+1,");
  const { status, body } = await licensesOf(api, other).import(exported);
  expect(status, JSON.stringify(body)).toBe(201);
  const imported = (await licensesOf(api, other).list('?limit=100')).body.data;
  const noteOf = new Map(imported.map(({ license_key, note }) => [license_key, note]));
  for (const { license_key, note } of data) expect(noteOf.get(license_key)).toBe(note);
});

test('all keys of an export keep their status: none of them can be redeemed twice', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const [from, to] = [licensesOf(api, app), licensesOf(api, other)];
  const used = await redeemed(api, app, { note: 'used' });
  const [paused, banned, unused] = await from.create(3);
  await from.pause(paused!.license_id);
  await from.ban(banned!.license_id, { reason: 'Charged back' });
  const usedAndBanned = await redeemed(api, app);
  await from.ban(usedAndBanned.license_id);
  expect((await to.import((await from.export()).body)).body).toMatchObject({ imported: 5 });

  const view = ({ data }: { data: readonly License[] }) =>
    data
      .map(({ license_key, status, redeemed_at, ban_reason }) => ({
        license_key,
        status,
        redeemed_at,
        ban_reason,
      }))
      .sort((a, b) => (a.license_key < b.license_key ? -1 : 1));
  expect(view((await to.list()).body)).toEqual(view((await from.list()).body));
  const imported = new Map((await to.list()).body.data.map((each) => [each.license_key, each]));
  await to.unban(imported.get(usedAndBanned.license_key)!.license_id);
  const { username } = await newUser(api, other);
  const activate = async ({ license_key }: { license_key: string }) =>
    (await api.activate(other.with({ username, license_key }))).status;
  expect(await activate(used)).toBe(400);
  expect(await activate(usedAndBanned)).toBe(400);
  expect(await activate(paused!)).toBe(400);
  expect(await activate(unused!)).toBe(200);
});

test('a key with the time of its redemption cannot be redeemed again, with or without a status', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const table = (...lines: string[]) =>
    ['license_key,tier,duration_days,status,redeemed_at', ...lines, ''].join('\n');
  const at = '2026-01-01T00:00:00.000Z';
  const unused = await licenses.import(table(`USED-KEY-0001,Pro,30,unused,${at}`));
  expectFaults(unused, '/line/2');
  expectFaults(await licenses.import(table('USED-KEY-0001,Pro,30,redeemed,9999-01-01T00:00:00Z')), '/line/2');
  expect((await licenses.import(table(`USED-KEY-0001,Pro,30,,${at}`))).status).toBe(201);
  expect((await licenses.list()).body.data).toMatchObject([{ status: 'redeemed', redeemed_at: at }]);
  const { username } = await newUser(api, app);
  const again = await api.activate(app.with({ username, license_key: 'USED-KEY-0001' }));
  expectError(again, 400, 'LICENSE_ALREADY_USED');
});

test('a redeemed key without a time was redeemed when it was imported', async () => {
  const licenses = licensesOf(api, await newApp(api));
  await licenses.import(csv('USED-KEY-0001,Pro,30,,,redeemed'));
  const [used] = (await licenses.list()).body.data;
  expect(used).toMatchObject({ status: 'redeemed', redeemed_at: used!.created_at, redeemed_by: null });
});

test('a file without a media type, or of bytes, is a table too', async () => {
  const licenses = licensesOf(api, await newApp(api));
  const bytes = { 'content-type': 'application/octet-stream' };
  expect((await licenses.import(csv('BYTES-KEY-1,Pro,30,,,'), bytes)).status).toBe(201);
  const { token, app_id } = await newApp(api);
  const response = await fetch(`${api.baseUrl}/api/v2/dev/apps/${app_id}/licenses/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: new TextEncoder().encode(csv('BYTES-KEY-1,Pro,30,,,')),
  });
  expect(response.status).toBe(201);
});

describe('faulty lines are listed, and nothing is imported', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  await licenses.import(csv('EXISTING-KEY-1,Pro,30,,,'));

  test.each<[string, string, string]>([
    ['no tier of the application', 'GOOD-KEY-1,Gold,30,,,', 'tier'],
    ['a tier in other letters', 'GOOD-KEY-1,pro,30,,,', 'tier'],
    ['a key that is too short', 'ABC-DEF,Pro,30,,,', 'key'],
    ['a key that is too long', `${'A'.repeat(101)},Pro,30,,,`, 'key'],
    ['a key with other than ASCII', 'GOOD-KEY-Ä,Pro,30,,,', 'key'],
    ['a key that a spreadsheet takes for a formula', '=GOOD-KEY-1,Pro,30,,,', 'key'],
    ['no key', ',Pro,30,,,', 'key'],
    ['a key that exists', 'existing key 1,Pro,30,,,', 'license_key exists already'],
    ['days as a fraction', 'GOOD-KEY-1,Pro,1.5,,,', 'duration_days'],
    ['no days', 'GOOD-KEY-1,Pro,0,,,', 'duration_days'],
    ['too many days', 'GOOD-KEY-1,Pro,36501,,,', 'duration_days'],
    ['days in words', 'GOOD-KEY-1,Pro,thirty,,,', 'duration_days'],
    ['a note that is too long', `GOOD-KEY-1,Pro,30,${'n'.repeat(501)},,`, 'note'],
    ['a note with NUL', 'GOOD-KEY-1,Pro,30,a\u0000b,,', 'note'],
    ['a day that is not there', 'GOOD-KEY-1,Pro,30,,2027-02-30T00:00:00Z,', 'redeem_by'],
    ['a day alone', 'GOOD-KEY-1,Pro,30,,2027-02-28,', 'redeem_by'],
    ['year 0', 'GOOD-KEY-1,Pro,30,,0000-02-28T00:00:00Z,', 'redeem_by'],
    ['after year 9999', 'GOOD-KEY-1,Pro,30,,9999-12-31T23:59:59-01:00,', 'redeem_by'],
    ['a status that cannot be imported', 'GOOD-KEY-1,Pro,30,,,expired', 'status'],
    ['a cell too few', 'GOOD-KEY-1,Pro,30,,', 'cells'],
    ['a cell too many', 'GOOD-KEY-1,Pro,30,,,,', 'cells'],
    ['an open quote', 'GOOD-KEY-1,Pro,30,"a,,', 'quotes'],
    ['a quote in the middle', 'GOOD-KEY-1,Pro,30,a"b,,', 'quotes'],
  ])('%s', async (_, line, word) => {
    const response = await licenses.import(csv('FIRST-KEY-1,Pro,30,,,', line));
    expectError(response, 400, 'VALIDATION_FAILED');
    expect(response.body.errors).toEqual([{ pointer: '/line/3', detail: expect.stringContaining(word) }]);
    expect((await licenses.list()).body.data).toHaveLength(1);
  });

  test('all in order, including duplicate keys', async () => {
    const response = await licenses.import(
      csv(
        'AAAA-0000-1,Pro,30,,,',
        'EXISTING-KEY-1,Pro,30,,,',
        'aaaa oooo i,Pro,30,,,',
        'x,Gold,x,,x,x',
        'BBBB-0000-1,Pro,30,,,',
        'BBBB-0000-1,Pro,30,,,',
      ),
    );
    expectError(response, 400, 'VALIDATION_FAILED');
    expect(
      response.body.errors!.map(({ pointer, detail }) => `${pointer} ${detail.split(' ', 1)[0]}`),
    ).toEqual([
      '/line/3 license_key',
      '/line/4 license_key',
      '/line/5 license_key',
      '/line/5 tier',
      '/line/5 duration_days',
      '/line/5 redeem_by',
      '/line/5 status',
      '/line/7 license_key',
    ]);
    expect(response.body.errors![1]!.detail).toBe('license_key is the one of line 2');
    expect((await licenses.list()).body.data).toHaveLength(1);
  });

  test('the first 100', async () => {
    const response = await licenses.import(
      csv(...Array.from({ length: 500 }, (_, n) => `GOOD-KEY-${n},Gold,30,,,`)),
    );
    expectError(response, 400, 'VALIDATION_FAILED');
    expect(response.body.errors).toHaveLength(100);
    expect(response.body.errors!.at(-1)!.pointer).toBe('/line/101');
    expect(response.body.detail).toContain('may be more');
  });

  test.each([
    ['', '/line/2'],
    ['\n\n', '/line/2'],
    [`${HEADER}\n`, '/line/2'],
    ['license_key,tier\nGOOD-KEY-1,Pro\n', '/line/1'],
    ['license_key,tier,duration\nGOOD-KEY-1,Pro,30\n', '/line/1'],
    ['license_key,tier,duration_days,license_key\nGOOD-KEY-1,Pro,30,GOOD-KEY-2\n', '/line/1'],
    ['license_key;tier;duration_days\nGOOD-KEY-1;Pro;30\n', '/line/1'],
    ['license_key,tier,duration_days,__proto__\nGOOD-KEY-1,Pro,30,x\n', '/line/1'],
  ])('a table %j', async (table, pointer) => {
    const response = await licenses.import(new TextEncoder().encode(table || '\n'));
    expectFaults(response, pointer);
    expect((await licenses.list()).body.data).toHaveLength(1);
  });
});

test('more than 100,000 lines are refused', async () => {
  const licenses = licensesOf(api, await newApp(api));
  const line = (_: unknown, n: number) => `OLD-${String(n).padStart(8, '0')},Pro,30,,,`;
  expectFaults(await licenses.import(csv(...Array.from({ length: 100_001 }, line))), '/line/100002');
  expect((await licenses.list()).body.data).toEqual([]);
}, 240_000);

test('a key may be imported into two applications, each with users of its own', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  for (const each of [app, other])
    expect((await licensesOf(api, each).import(csv('SAME-KEY-1,Pro,30,,,'))).status).toBe(201);
  const login = { license_key: 'same-key-1', hwid: newHwid() };
  const first = await api.loginWithLicense({ ...login, app_id: app.app_id });
  const second = await api.loginWithLicense({ ...login, app_id: other.app_id });
  expect([first.status, second.status]).toEqual([200, 200]);
  const holders = [app, other].map(
    async (each) => (await licensesOf(api, each).list()).body.data[0]!.redeemed_by,
  );
  expect(new Set(await Promise.all(holders)).size).toBe(2);
});

test('a file that is not UTF-8, or not a table, is refused', async () => {
  const licenses = licensesOf(api, await newApp(api));
  expectError(
    await licenses.import(Buffer.from(csv('GOOD-KEY-Ä1,Pro,30,,,'), 'latin1')),
    400,
    'MALFORMED_REQUEST',
  );
  const json = { 'content-type': 'application/json' };
  expectError(await licenses.import('{}', json), 415, 'UNSUPPORTED_MEDIA_TYPE');
  const long = csv(`GOOD-KEY-1,Pro,30,${'n'.repeat(20_000)},,`);
  expectError(await licenses.import(long), 400, 'VALIDATION_FAILED');
});

test('PAYLOAD_TOO_LARGE above 32 MiB', async () => {
  const licenses = licensesOf(api, await newApp(api));
  expectError(await licenses.import(Buffer.alloc(33_554_433, 'a')), 413, 'PAYLOAD_TOO_LARGE');
});

/** Imports a key, and does something else while the key is inserted. */
async function importDuring(app: App, happening: () => Promise<void>) {
  const database = await connectTo(service.databaseUrl);
  await database.query('begin');
  await database.query('lock table licenses in share mode');
  const importing = licensesOf(api, app).import(csv('SLOW-KEY-1,Pro,30,,,'));
  const waiting = `select 1 from pg_locks where locktype = 'relation' and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  await expect.poll(async () => (await database.query(waiting)).rowCount, { interval: 5 }).toBe(1);
  await happening();
  await database.query('rollback');
  return importing;
}

test('a pause of the application does not wait for the keys', async () => {
  const app = await newApp(api);
  expect((await importDuring(app, () => app.patch({ paused: true }))).status).toBe(201);
});

/** A file that is still being sent when something happens. */
async function* interrupted(text: string, happening: () => Promise<unknown>) {
  yield Buffer.from(text);
  await happening();
}

test('VALIDATION_FAILED when a tier was removed while keys of it were inserted', async () => {
  const app = await newApp(api);
  const response = await importDuring(app, () => app.patch({ tiers: ['Standard'] }));
  expectError(response, 400, 'VALIDATION_FAILED');
  expect((await licensesOf(api, app).list()).body.data).toEqual([]);
});

test('APPLICATION_NOT_FOUND when the application is deleted before the end of the file', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const actor = {
    kind: 'developer',
    id: developer.developerId,
    developerId: developer.developerId,
    address: '::1',
  } as const;
  const file = interrupted(csv('LATE-KEY-1,Pro,30,,,'), async () => {
    await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, { token: app.token });
    await expect.poll(() => clearDeletedApplication(service.services)).toBe(0);
  });
  await expect(service.services.licenses.import(actor, app.app_id, file)).rejects.toMatchObject({
    code: 'APPLICATION_NOT_FOUND',
  });
});

test('an Idempotency-Key imports once', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const headers = { 'idempotency-key': app.app_id };
  const table = csv('ONCE-KEY-1,Pro,30,,,');
  expect((await licenses.import(table, headers)).status).toBe(201);
  const again = await licenses.import(table, headers);
  expect(again.status).toBe(201);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expectError(await licenses.import(csv('ONCE-KEY-2,Pro,30,,,'), headers), 422, 'IDEMPOTENCY_KEY_REUSED');
  expectError(await licenses.import(table), 400, 'VALIDATION_FAILED');
});

test("another developer's application counts as absent, regardless of the table", async () => {
  const app = await newApp(api);
  const { token } = await newDeveloper(api);
  for (const table of [csv('GOOD-KEY-1,Pro,30,,,'), 'nonsense\nx\n']) {
    const foreign = await licensesOf(api, { app_id: app.app_id, token }).import(table);
    const absent = await licensesOf(api, { app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c', token }).import(table);
    expectError(absent, 404, 'APPLICATION_NOT_FOUND');
    expect(comparable(foreign)).toEqual(comparable(absent));
  }
  expectError(await licensesOf(api, { app_id: app.app_id }).import('x'), 401, 'UNAUTHORIZED');
  const reader = licensesOf(api, await scoped(api, app, 'read'));
  expectError(await reader.import('x'), 403, 'INSUFFICIENT_SCOPE');
});
