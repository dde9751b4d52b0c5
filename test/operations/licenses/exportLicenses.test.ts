import { once } from 'node:events';
import { get } from 'node:http';
import { expect, test } from 'vitest';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { licensesOf, redeemed, scoped } from '../support/licenses.ts';

const { api, database, databaseUrl } = await startTestService();
const FILE = 'application/octet-stream';
const HEADER =
  'license_key,tier,duration_days,note,redeem_by,license_id,status,redeemed_at,redeemed_by,reseller_id,ban_reason,created_at';
const lines = (text: string) => text.split('\n').slice(0, -1);

test('a table with all columns, newest first', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  await licenses.create(1, { note: 'a "note", with\ntwo lines', redeem_by: '2027-01-01T00:00:00Z' });
  const used = await redeemed(api, app, { duration_days: null });
  const { status, headers, body } = await licenses.export();
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe(FILE);
  expect(headers.get('content-disposition')).toBe('attachment; filename="licenses.csv"');
  const [newer, older] = (await licenses.list()).body.data;
  expect(body).toBe(
    `${HEADER}
${used.license_key},Pro,,,,${used.license_id},redeemed,${newer!.redeemed_at},${newer!.redeemed_by},,,${newer!.created_at}
${older!.license_key},Pro,30,"a ""note"", with
two lines",2027-01-01T00:00:00.000Z,${older!.license_id},unused,,,,,${older!.created_at}
`,
  );
});

test('2,501 keys, each once', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const made = (await licenses.create(2_501)).map(({ license_key }) => license_key).reverse();
  const table = lines((await licenses.export()).body).slice(1);
  expect(table.map((line) => line.split(',', 1)[0])).toEqual(made);
});

test('ignores the media types that a client accepts', async () => {
  const app = await newApp(api);
  for (const accept of ['application/json', 'application/problem+json', 'application/x-ndjson', 'text/csv']) {
    const response = await fetch(`${api.baseUrl}/api/v2/dev/apps/${app.app_id}/licenses/export`, {
      headers: { authorization: `Bearer ${app.token}`, accept },
    });
    expect([response.status, await response.text()], accept).toEqual([200, `${HEADER}\n`]);
  }
});

test('keys that match the filters', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const [vip] = await licenses.create(1, { tier: 'VIP', note: 'Spring sale' });
  const [pro] = await licenses.create(1);
  await licenses.ban(pro!.license_id);
  for (const query of ['?tier=VIP', '?status=unused', '?q=spring', `?q=${vip!.license_key}`]) {
    const found = lines((await licenses.export(query)).body);
    expect(found, query).toHaveLength(2);
    expect(found[1], query).toContain(vip!.license_key);
  }
  expect((await licenses.export('?status=paused')).body).toBe(`${HEADER}\n`);
});

test('ends when the client disconnects', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  for (let n = 0; n < 2; n += 1) await licenses.create(10_000, { note: 'n'.repeat(500) });
  const url = `${api.baseUrl}/api/v2/dev/apps/${app.app_id}/licenses/export`;
  const request = get(url, { headers: { authorization: `Bearer ${app.token}` } });
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
  await once(response, 'readable');
  request.destroy();
  const database = await connectTo(databaseUrl);
  const scans = async () => {
    const { rows } = await database.query<{ n: number }>(
      `select sum(idx_tup_fetch)::int as n from pg_stat_user_tables where relname = 'licenses'`,
    );
    return rows[0]!.n;
  };
  // It reads no more rows than it writes.
  let before = -1;
  await expect
    .poll(
      async () => {
        const [last, now] = [before, await scans()];
        before = now;
        return now === last;
      },
      { interval: 1_500, timeout: 20_000 },
    )
    .toBe(true);
  expect(lines((await licenses.export()).body)).toHaveLength(20_001);
}, 120_000);

test('HEAD has no body', async () => {
  const app = await newApp(api);
  await licensesOf(api, app).create(1);
  const response = await fetch(`${api.baseUrl}/api/v2/dev/apps/${app.app_id}/licenses/export`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${app.token}` },
  });
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    200,
    FILE,
    '',
  ]);
});

test('VALIDATION_FAILED for filters that are not valid', async () => {
  const licenses = licensesOf(api, await newApp(api));
  expectFaults(await licenses.export('?status=lost'), 'query/status');
  expectFaults(await licenses.export('?tier='), 'query/tier');
  expectFaults(await licenses.export('?q='), 'query/q');
  expectFaults(await licenses.export('?q=a%00b'), 'query/q');
});

test("another developer's application counts as absent, and the token must have the scope read", async () => {
  const app = await newApp(api);
  await licensesOf(api, app).create(1);
  const { token } = await newDeveloper(api);
  const foreign = await licensesOf(api, { app_id: app.app_id, token }).export();
  const absent = await licensesOf(api, { app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c', token }).export();
  expectError(absent as never, 404, 'APPLICATION_NOT_FOUND');
  expect(comparable(foreign as never)).toEqual(comparable(absent as never));
  expectError((await licensesOf(api, { app_id: app.app_id }).export()) as never, 401, 'UNAUTHORIZED');
  const writer = licensesOf(api, await scoped(api, app, 'write'));
  expectError((await writer.export()) as never, 403, 'INSUFFICIENT_SCOPE');
});

test('a page of an application without planner statistics is read from an index in its order', async () => {
  const app = await newApp(api);
  await licensesOf(api, app).create(1);
  await database.knex.raw(
    `insert into licenses (license_id, app_id, key_digest, key_sealed, tier, duration_days, created_at)
     select license_id || n, app_id, sha256(n::text::bytea), key_sealed, tier, duration_days, created_at
     from licenses, generate_series(1, 39999) n where app_id = ?`,
    [app.app_id],
  );
  const statistics = await database.knex('pg_stats').where({ tablename: 'licenses' });
  expect(statistics).toEqual([]);
  const { rows } = await database.knex.raw<{ rows: { 'QUERY PLAN': string }[] }>(
    `explain select * from licenses where app_id = ? and license_id < ? order by license_id desc limit 500`,
    [app.app_id, 'lic_7'],
  );
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toMatch(/Index Scan Backward using licenses_/);
  expect(plan).not.toMatch(/Sort/);
});
