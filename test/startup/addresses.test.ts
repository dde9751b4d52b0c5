import { randomBytes } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startService, withServices } from '../../src/app/service.ts';
import { loadConfig } from '../../src/config/config.ts';
import { StartupError } from '../../src/platform/startup-error.ts';
import { atFileEnd } from '../support/at-file-end.ts';
import { connectTo, createTestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { runToEnd } from '../support/processes.ts';
import { createEmptyDatabase } from './empty-database.ts';
import { collectLog } from '../support/collected-log.ts';

const [START, MIGRATE, SEED, RESTORED] = [
  'src/main.ts',
  'src/app/commands/migrate.ts',
  'src/app/commands/seed.ts',
  'src/app/commands/restored.ts',
] as const;
const settings = { MASTER_KEY: randomBytes(32).toString('base64'), LOG_LEVEL: 'error' };

/** The parts of a URL of the tests' server, whose host is the folder of a Unix socket. */
const partsOf = (url: string) => new URL(url.replace('postgresql:///', 'postgresql://host/'));

/** A TCP proxy to the server that records statements. @returns its URL, and the statements so far */
async function recordStatements(url: string) {
  const parts = partsOf(url);
  const { host, port, user } = Object.fromEntries(parts.searchParams);
  let recorded = '';
  const server = createServer((client) => {
    const upstream = connect(`${host}/.s.PGSQL.${port}`);
    client.on('data', (part) => (recorded += part.toString('latin1')));
    client.on('error', () => upstream.destroy()).pipe(upstream);
    upstream.on('error', () => client.destroy()).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return {
    url: `postgresql://${user}@127.0.0.1:${(server.address() as AddressInfo).port}${parts.pathname}`,
    recorded: () => recorded,
  };
}

const SCHEMA = /create table|alter table|create index/i;

describe.each([MIGRATE, SEED, RESTORED])('node %s', (script) => {
  test('changes the schema only with the direct URL', async () => {
    const DATABASE_DIRECT_URL = await createEmptyDatabase(atFileEnd);
    const pooled = await recordStatements(DATABASE_DIRECT_URL);
    const environment = { ...settings, DATABASE_URL: pooled.url, DATABASE_DIRECT_URL };
    expect(await runToEnd(environment, script)).toMatchObject({ code: 0, stderr: '' });
    expect(pooled.recorded()).not.toMatch(SCHEMA);
    // A transaction over all rows may take longer than the pooler allows.
    if (script === RESTORED) expect(pooled.recorded()).not.toMatch(/update webhook_deliveries/i);
    const database = await connectTo(DATABASE_DIRECT_URL);
    expect((await database.query('select from applications')).rowCount).toBe(script === SEED ? 1 : 0);
  });
});

/** Expects that programs refuse to start with one line. */
async function expectRefusals(
  scripts: readonly string[],
  environment: Record<string, string>,
  line: RegExp,
): Promise<void> {
  const ended = await Promise.all(scripts.map((script) => runToEnd({ ...settings, ...environment }, script)));
  for (const { code, stdout, stderr } of ended) {
    expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' });
    expect(stderr.trimEnd()).toMatch(line);
    expect(stderr.trimEnd()).not.toContain('\n');
  }
}

describe('an unusable URL is refused with one line', async () => {
  const good = await createTestDatabase();
  const weak = `weak_${randomBytes(8).toString('hex')}`;
  const asWeak = (url: string) => {
    const parts = partsOf(url);
    parts.searchParams.set('user', weak);
    return parts.href.replace('postgresql://host/', 'postgresql:///');
  };

  test('a direct URL without a server', async () => {
    const environment = {
      DATABASE_URL: good,
      DATABASE_DIRECT_URL: `postgresql://127.0.0.1:${await freePort()}/x`,
    };
    const line = /The database in DATABASE_DIRECT_URL \(.*ECONNREFUSED/;
    await expectRefusals([MIGRATE], environment, new RegExp(`^latchkey: ${line.source}`));

    // The other programs open the database by one of these.
    const config = loadConfig({ ...settings, ...environment });
    const { logger, lines } = collectLog();
    for (const start of [
      () => startService(config, logger),
      () => withServices(config, logger, async () => {}),
    ]) {
      const refusal = await start().catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(StartupError);
      expect((refusal as StartupError).message).toMatch(new RegExp(`^${line.source}`));
      expect((refusal as StartupError).message).not.toContain('\n');
    }
    expect(lines).toEqual([]);
  });

  test('an account that may not create tables', async () => {
    const url = await createEmptyDatabase(atFileEnd);
    const database = await connectTo(url);
    await database.query(`create role ${weak} login`);
    onTestFinished(() => database.query(`drop role ${weak}`).then(() => {}));
    await expectRefusals(
      [START, MIGRATE, SEED, RESTORED],
      { DATABASE_URL: asWeak(url) },
      /^latchkey: The database refuses what its account must do: permission denied for schema public\.$/,
    );
  });

  test('an account that may not see the tables', async () => {
    const database = await connectTo(good);
    await database.query(`create role ${weak} login; grant all on schema public to ${weak}`);
    onTestFinished(() => database.query(`drop owned by ${weak}; drop role ${weak}`).then(() => {}));
    await expectRefusals(
      [MIGRATE],
      { DATABASE_URL: asWeak(good) },
      /^latchkey: The database refuses what its account must do: permission denied for table schema_migrations\.$/,
    );
  });
});
