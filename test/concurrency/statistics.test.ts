import { randomInt } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { components } from '../../generated/types.ts';
import { newApp, newHwid, type App } from '../support/fixtures.ts';
import { spawnService } from '../support/processes.ts';
import { LightClient, type LightResponse } from './load.ts';
import { startTwoProcesses } from './two-processes.ts';

const MASTER_KEY = Buffer.alloc(32, 9).toString('base64');
const two = await startTwoProcesses({ MASTER_KEY });
const { client, sql } = two;
const [{ api }] = two.services;

/** The counters, computed from the tables. */
async function happened(appId: string): Promise<Record<string, number>> {
  const [row] = await sql<Record<string, number>>(
    `select (select count(*)::int from users where app_id = $1) as users,
       (select count(*)::int from sessions where app_id = $1) as logins,
       (select count(*)::int from sessions where app_id = $1 and ended_at is null) as live,
       (select count(*)::int from licenses where app_id = $1 and status = 'redeemed') as activations`,
    [appId],
  );
  return row!;
}

/** The sums of the statistics: of two days, if the tests run past midnight. */
async function counted(app: App, turn: number): Promise<Record<string, number>> {
  const path = `/api/v2/dev/apps/${app.app_id}/statistics`;
  const { status, body } = await client(turn).call('GET', path, undefined, app.token);
  expect(status).toBe(200);
  const { series } = body as unknown as components['schemas']['StatisticsResult'];
  const sum = (line: readonly number[]) => line.reduce((total, count) => total + count, 0);
  const total = (lines: readonly { counts: number[] }[]) => sum(lines.map(({ counts }) => sum(counts)));
  // The result is the same for any division.
  expect(total(series.logins.by_tier)).toBe(sum(series.logins.total));
  expect(total(series.logins.by_version) + sum(series.logins.other_versions)).toBe(sum(series.logins.total));
  expect(total(series.activations.by_tier)).toBe(sum(series.activations.total));
  expect(series.users.total.at(-1)).toBe(sum(series.users.new) - sum(series.users.deleted));
  return {
    users: sum(series.users.new),
    logins: sum(series.logins.total),
    live: series.live_sessions.at(-1)!,
    activations: sum(series.activations.total),
  };
}

/** Logs in with a key, which creates a user, then logs in again, and logs out now and then. */
async function journey(at: LightClient, app: App, key: string): Promise<LightResponse[]> {
  const hwid = newHwid();
  const login = () =>
    at.post('/api/v2/client/login-license', {
      app_id: app.app_id,
      license_key: key,
      hwid,
      version: `1.${randomInt(40)}.0`,
    });
  const responses = [await login()];
  if (randomInt(2) === 0) responses.push(await login());
  const token = responses.at(-1)!.body['token'];
  if (randomInt(3) === 0 && typeof token === 'string') {
    responses.push(await at.logout({ app_id: app.app_id, token }));
  }
  return responses;
}

let app: App;
beforeAll(async () => {
  app = await newApp(api);
});

test('sums are correct over two processes', async () => {
  const keys = await app.keys(150, 'Pro');
  for (let part = 0; part < keys.length; part += 30) {
    const responses = await Promise.all(
      keys.slice(part, part + 30).map((key, turn) => journey(client(turn), app, key)),
    );
    expect(new Set(responses.flat().map(({ status }) => status))).toEqual(new Set([200]));
  }
  const wanted = await happened(app.app_id);
  expect(wanted).toMatchObject({ users: 150, activations: 150 });
  for (const turn of [0, 1]) await expect.poll(() => counted(app, turn)).toEqual(wanted);
});

test('also after kill -9 of the process that counts', async () => {
  const other = await newApp(api);
  for (let round = 0; round < 3; round += 1) {
    const victim = await spawnService({ DATABASE_URL: two.databaseUrl, MASTER_KEY, LOG_LEVEL: 'error' });
    const at = new LightClient(victim.api.baseUrl);
    const keys = await other.keys(40, 'Pro');
    let begun = 0;
    const work = keys.map((key) =>
      journey(at, other, key).then(
        () => (begun += 1),
        () => {},
      ),
    );
    await expect.poll(() => begun, { interval: 1 }).toBeGreaterThan(4 * round);
    await victim.end('SIGKILL');
    await Promise.all(work);
  }
  expect((await happened(other.app_id))['logins']).toBeGreaterThan(0);
  await expect.poll(async () => (await sql('select 1 from events where position is null')).length).toBe(0);
  for (const turn of [0, 1]) expect(await counted(other, turn)).toEqual(await happened(other.app_id));
});
