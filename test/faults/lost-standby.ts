import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { LightClient, tally, type LightResponse } from '../concurrency/load.ts';
import { newApp, newSession } from '../support/fixtures.ts';
import { spawnService, temporaryFolder } from '../support/processes.ts';

const NODES = 2;
/**
 * Two pools per node (10 and 3), as many abandoned connections that are not known to be closed, its listeners (3), and
 * for each pool a connection that checks whether the database responds and one that terminates abandoned ones.
 */
const MOST_SESSIONS = NODES * (2 * (10 + 3) + 3 + 2 * 2);
const WRITERS = 15;
const RECOVERY_MS = 2_000;
/** On a machine that others share. On an idle one it is RECOVERY_MS. */
const RECOVERED_WITHIN_MS = 5 * RECOVERY_MS;

/** What happened to two nodes while the standby was lost, and afterwards. */
export interface Outage {
  readonly verified: readonly LightResponse[];
  readonly written: readonly LightResponse[];
  readonly healths: readonly LightResponse[];
  readonly mostSessions: number;
  readonly sessionsBefore: number;
  readonly recoveryMs: number;
}

/**
 * Two nodes on a PostgreSQL that waits with every commit for a standby that does not exist, under a load of reads and
 * writes. Then PostgreSQL stops waiting for it. Asserts what must be true.
 */
export async function expectToOutliveStandby(lostForMs: number): Promise<Outage> {
  const dataDir = await temporaryFolder();
  const server = await startEmbeddedPostgres({
    dataDir,
    logger: createLogger('silent'),
    settings: { fsync: 'off', max_connections: '120' },
  });
  onTestFinished(() => server.stop());
  const { host, user } = server.connection;
  const direct = new pg.Client({ host, user, database: 'latchkey' });
  await direct.connect();
  onTestFinished(() => direct.end());
  await direct.query('create role service login');
  await direct.query('alter database latchkey owner to service');
  const settings = {
    DATABASE_URL: `postgresql:///latchkey?${new URLSearchParams({ host, user: 'service' })}`,
    MASTER_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'fatal',
  };
  const nodes = [await spawnService(settings), await spawnService(settings)];
  const clients = nodes.map(({ api }) => new LightClient(api.baseUrl));
  const app = await newApp(nodes[0]!.api);
  const { token } = await newSession(nodes[0]!.api, app);
  const sessions = async () => {
    const { rows } = await direct.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity where usename = 'service'`,
    );
    return rows[0]!.count;
  };
  const verify = (client: LightClient) => client.verify({ app_id: app.app_id, token });
  const write = (client: LightClient) =>
    client.call(
      'POST',
      `/api/v2/dev/apps/${app.app_id}/bans`,
      { kind: 'network', network: '203.0.113.0/24' },
      app.token,
    );
  const health = (client: LightClient) => client.call('GET', '/health');
  await Promise.all(clients.map(verify));
  const sessionsBefore = await sessions();

  await direct.query(`alter system set synchronous_standby_names = 'ghost'`);
  await direct.query('select pg_reload_conf()');
  // Backends read their settings at the next query.
  await delay(100);
  const until = performance.now() + lostForMs;
  const [verified, written, healths]: LightResponse[][] = [[], [], []];
  let mostSessions = 0;
  const repeat = async (into: LightResponse[], pauseMs: number, send: () => Promise<LightResponse>) => {
    for (; performance.now() < until; await delay(pauseMs)) into.push(await send());
  };
  const watching = (async () => {
    for (; performance.now() < until; await delay(100)) {
      mostSessions = Math.max(mostSessions, await sessions());
    }
  })();
  await Promise.all([
    watching,
    ...clients.flatMap((client) => [
      repeat(verified!, 20, () => verify(client)),
      repeat(healths!, 250, () => health(client)),
      ...Array.from({ length: WRITERS }, () => repeat(written!, 10, () => write(client))),
    ]),
  ]);

  await direct.query('alter system reset synchronous_standby_names');
  await direct.query('select pg_reload_conf()');
  const began = performance.now();
  let recoveryMs = 0;
  for (;;) {
    const responses = await Promise.all(
      clients.flatMap((client) => [write(client), verify(client), health(client)]),
    );
    recoveryMs = performance.now() - began;
    if (responses.every(({ status }) => status < 300)) break;
    if (recoveryMs > RECOVERED_WITHIN_MS) expect(tally(responses)).toEqual({ 200: 6 });
    await delay(20);
  }
  const outage = {
    verified: verified!,
    written: written!,
    healths: healths!,
    mostSessions,
    sessionsBefore,
    recoveryMs,
  };
  const longest = (responses: readonly LightResponse[]) =>
    Math.max(...responses.map(({ ms }) => ms)).toFixed(0);
  console.log(
    `${lostForMs / 1000} s without the standby: ` +
      `verifications ${JSON.stringify(tally(verified!))} (longest ${longest(verified!)} ms), ` +
      `writes ${JSON.stringify(tally(written!))} (longest ${longest(written!)} ms), ` +
      `health ${JSON.stringify(tally(healths!))}, ` +
      `sessions ${sessionsBefore} -> ${mostSessions} (bound ${MOST_SESSIONS}), ` +
      `recovered after ${recoveryMs.toFixed(0)} ms`,
  );
  expect(tally(verified!)).toEqual({ 200: verified!.length });
  expect(tally(healths!)).toEqual({ 200: healths!.length });
  for (const { body } of healths!) expect(body['parts']).toMatchObject({ cluster: { nodes: NODES } });
  expect(healths!.at(-1)!.body['parts']).toMatchObject({ standby: { status: 'unavailable' } });
  expect(tally(written!)).toEqual({ '503 SERVICE_UNAVAILABLE': written!.length });
  for (const { headers } of written!) {
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  }
  expect(mostSessions).toBeLessThanOrEqual(MOST_SESSIONS);
  const parts = async () => (await Promise.all(clients.map(health))).map(({ body }) => body['parts']);
  await expect
    .poll(parts)
    .toEqual(clients.map(() => expect.not.objectContaining({ standby: expect.anything() })));
  return outage;
}
