import { expect, test } from 'vitest';
import { newApp, newSession } from '../support/fixtures.ts';
import { tally } from './load.ts';
import { startTwoProcesses } from './two-processes.ts';

const { services, client, sql } = await startTwoProcesses();
const { api } = services[0];

test('the limit of 1000 variables holds with concurrent requests to two processes', async () => {
  const app = await newApp(api);
  await sql(
    `insert into variables (variable_id, app_id, name, value, bytes, visibility, created_at, updated_at)
     select $1 || n, $1, 'n' || n, 'v', 1, 'public', now(), now() from generate_series(1, 990) n`,
    [app.app_id],
  );
  const set = (n: number) =>
    client(n).call(
      'PUT',
      `/api/v2/dev/apps/${app.app_id}/variables/new${n}`,
      { value: 'v', visibility: 'public' },
      app.token,
    );
  const responses = await Promise.all(Array.from({ length: 40 }, (_, n) => set(n)));
  expect(tally(responses)).toEqual({ 200: 10, '403 QUOTA_EXCEEDED': 30 });
  const rows = await sql<{ n: number }>('select count(*)::int as n from variables where app_id = $1', [
    app.app_id,
  ]);
  expect(rows).toEqual([{ n: 1000 }]);
});

test('the limit of 256 KiB for a user holds', async () => {
  const app = await newApp(api);
  const { user } = await newSession(api, app);
  const path = `/api/v2/dev/apps/${app.app_id}/users/${user!.id}/variables`;
  const value = 'x'.repeat(32_768);
  const responses = await Promise.all(
    Array.from({ length: 24 }, (_, n) => client(n).call('PUT', `${path}/v${n}`, { value }, app.token)),
  );
  expect(tally(responses)).toEqual({ 200: 8, '403 QUOTA_EXCEEDED': 16 });
});

test('of 30 concurrent writes of one name, the last one remains, with one row and an event for each', async () => {
  const app = await newApp(api);
  const path = `/api/v2/dev/apps/${app.app_id}/variables/one`;
  const responses = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      client(n).call('PUT', path, { value: String(n), visibility: 'public' }, app.token),
    ),
  );
  expect(tally(responses)).toEqual({ 200: 30 });
  const rows = await sql<{ value: string }>('select value from variables where app_id = $1', [app.app_id]);
  const events = await sql("select 1 from events where app_id = $1 and type = 'variable.set'", [app.app_id]);
  expect([rows.length, events.length]).toEqual([1, 30]);
  const read = await client(1).call('GET', path, undefined, app.token);
  expect(read.body['value']).toBe(rows[0]!.value);
});
