import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig, type Config } from '../../src/config/config.ts';
import { settings } from '../../src/config/settings.ts';
import { StartupError } from '../../src/platform/startup-error.ts';
import { Api } from '../support/api.ts';
import { atFileEnd } from '../support/at-file-end.ts';
import { connectTo, createTestDatabase } from '../support/database.ts';
import { newApp, newSession } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import {
  runToEnd,
  spawnService,
  temporaryDataDir,
  temporaryFolder,
  type ServiceProcess,
} from '../support/processes.ts';
import { MASTER_KEY } from '../support/service.ts';
import { collectLog } from '../support/collected-log.ts';
import { startHere } from './start-here.ts';

const DATABASE_URL = await createTestDatabase();
const good = { DATABASE_URL, MASTER_KEY, LOG_LEVEL: 'error' };

const file = join(await temporaryFolder(afterAll), 'file');
await writeFile(file, '');

/** Listens on a free port of the loopback until the end of the file. */
async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(async () => void server.close());
  return (server.address() as AddressInfo).port;
}

const takenPort = await listen(createServer());

/** Responds like PostgreSQL to a wrong password. */
const wrongPasswordPort = await listen(
  createServer((socket) => {
    const message = (type: string, body: Buffer) => {
      const head = Buffer.alloc(5, type);
      head.writeInt32BE(body.length + 4, 1);
      return Buffer.concat([head, body]);
    };
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(message('R', Buffer.from([0, 0, 0, 3])));
      socket.once('data', () =>
        socket.end(
          message(
            'E',
            Buffer.from('SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user "me"\0\0'),
          ),
        ),
      );
    });
  }),
);

/** The number of ports on which this process listens. */
const openPorts = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;

/** Expects that the start fails with one line that names the setting, that nothing listens, and an empty log. */
async function expectRefusal(name: string, environment: Record<string, string>): Promise<string> {
  const { logger, lines } = collectLog();
  const before = openPorts();
  const refusal = await startHere({ ...good, ...environment }, { logger }).then(
    () => 'it started',
    (error: unknown) => error,
  );
  expect(refusal).toBeInstanceOf(StartupError);
  const { message } = refusal as StartupError;
  expect(openPorts(), 'it must not listen').toBe(before);
  expect(lines).toEqual([]);
  expect(message).not.toContain('\n');
  expect(message).toMatch(new RegExp(`\\b${name}\\b`));
  expect(message, 'a password').not.toContain('hunter2');
  return message;
}

/** Expects one line on standard error that names the setting, no output, and exit code 1. */
async function expectProcessToEnd(name: string, environment: Record<string, string>): Promise<void> {
  const { code, stdout, stderr } = await runToEnd({ ...good, ...environment });
  expect(stdout, 'it must not listen').toBe('');
  expect(stderr.trimEnd().split('\n'), stderr).toHaveLength(1);
  expect(stderr).toMatch(new RegExp(`^latchkey: .*\\b${name}\\b`));
  expect(code).toBe(1);
  expect(stderr, 'a password').not.toContain('hunter2');
}

const short = randomBytes(16).toString('base64');

describe('a wrong value is refused with the name of the setting', () => {
  test.each([
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['PORT', '1e3'],
    ['PORT', '0x50'],
    ['PORT', ' '],
    ['DATABASE_URL', 'hunter2'],
    ['MASTER_KEY', 'hunter2'],
    ['MASTER_KEY', `${MASTER_KEY},${short}`],
    ['MASTER_KEY', `${MASTER_KEY},`],
    ['MASTER_KEY', randomBytes(32).toString('hex')],
    ['BASE_URL', 'latchkey.example'],
    ['BASE_URL', 'https://latchkey.example/?a=b'],
    ['BASE_URL', 'https://latchkey.example/#a'],
    ['WEB_URL', 'ftp://latchkey.example'],
    ['DEMO', 'yes'],
    ['TRUSTED_PROXIES', 'localhost'],
    ['TRUSTED_PROXIES', '10.0.0.1/8'],
    ['TRUSTED_PROXIES', '10.0.0.0/8,'],
    ['TRUSTED_PROXIES', '10.0.0.0/8;192.0.2.1'],
    ['TRUSTED_PROXIES', 'true'],
    ['RATE_LIMIT', '100'],
    ['RATE_LIMIT', '0/60'],
    ['RATE_LIMIT', '100/0'],
    ['RATE_LIMIT', '-1/60'],
    ['RATE_LIMIT', '1e2/60'],
    ['RATE_LIMIT', '100 / 60'],
    ['RATE_LIMIT', '100/60/1'],
    ['RATE_LIMIT', '100/1000000'],
    ['NONCE_DAYS', '0'],
    ['NONCE_DAYS', '-1'],
    ['NONCE_DAYS', '1.5'],
    ['NONCE_DAYS', '10000'],
    ['NONCE_DAYS', 'P30D'],
    ['BROKER_URL', '127.0.0.1:1883'],
    ['BROKER_URL', 'http://me:hunter2@127.0.0.1:1883'],
    ['BROKER_URL', 'ws://127.0.0.1'],
    ['SMTP_URL', 'mail.example:587'],
    ['SMTP_URL', 'http://me:hunter2@mail.example'],
    ['MAIL_FROM', 'hunter2'],
    ['MAIL_FROM', '@latchkey.example'],
    ['MAIL_FROM', 'no reply@latchkey.example'],
    ['MAIL_FROM', 'Latchkey <no-reply@latchkey.example'],
    ['MAIL_FROM', 'Latchkey <no-reply@latchkey.example>, Me <me@latchkey.example>'],
    ['MAIL_FROM', 'a@latchkey.example,b@latchkey.example'],
    ['MAIL_FROM', 'Latchkey\r\nBcc: hunter2@latchkey.example <a@latchkey.example>'],
    ['MAIL_FROM', 'a@latchkey.example\nBcc: hunter2@latchkey.example'],
    ['METRICS_TOKEN', 'hunter2'],
    ['METRICS_TOKEN', 'hunter2 and more of it'],
    ['METRICS_TOKEN', 'hunter2="quoted-quoted"'],
    ['ADMIN_TOKEN', 'hunter2'],
    ['ADMIN_TOKEN', 'hunter2'.padEnd(31, '0')],
    ['ADMIN_TOKEN', `${'a'.repeat(32)},hunter2`],
    ['ADMIN_TOKEN', `${'a'.repeat(32)},`],
    ['ADMIN_TOKEN', `hunter2 ${'a'.repeat(32)}`],
    ['STRIPE_SECRET_KEY', 'hunter2'],
    ['STRIPE_SECRET_KEY', 'pk_live_hunter2'],
    ['STRIPE_SECRET_KEY', 'sk_hunter2'],
    ['STRIPE_SECRET_KEY', 'sk_test_hunter2 '],
    ['STRIPE_WEBHOOK_SECRET', 'hunter2'],
    ['STRIPE_WEBHOOK_SECRET', 'whsec_hunter2,'],
  ])('%s=%s', (name, value) => {
    let refusal: unknown;
    try {
      loadConfig({ ...good, [name]: value });
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(StartupError);
    const { message } = refusal as StartupError;
    expect(message).toMatch(new RegExp(`^${name} `));
    expect(message).not.toContain('\n');
    expect(message).not.toContain('hunter2');
    if (name === 'MASTER_KEY') expect(message).not.toContain(value);
  });

  test.each([
    ['STRIPE_SECRET_KEY', { STRIPE_WEBHOOK_SECRET: 'whsec_1' }],
    ['STRIPE_SECRET_KEY', { STRIPE_NETWORK_ID: 'profile_1' }],
    ['STRIPE_SECRET_KEY', { STRIPE_API_URL: 'http://127.0.0.1:12111' }],
    ['STRIPE_WEBHOOK_SECRET', { STRIPE_SECRET_KEY: 'sk_test_1' }],
  ])('%s is required with %o', (missing, others) => {
    expect(() => loadConfig({ ...good, ...others })).toThrow(new RegExp(`^${missing} must be set with`));
  });
});

describe('a valid value is parsed', () => {
  test.each<[string, string | undefined, Partial<Config>]>([
    ['TRUSTED_PROXIES', undefined, { trustedProxies: [] }],
    [
      'TRUSTED_PROXIES',
      '10.0.0.0/8, 192.0.2.1,2001:DB8::/32, ::1',
      { trustedProxies: ['10.0.0.0/8', '192.0.2.1/32', '2001:db8::/32', '::1/128'] },
    ],
    ['RATE_LIMIT', undefined, { rateLimit: { requests: 100, seconds: 60 } }],
    ['RATE_LIMIT', '30/30', { rateLimit: { requests: 30, seconds: 30 } }],
    ['NONCE_DAYS', undefined, { nonceDays: 30 }],
    ['NONCE_DAYS', '9999', { nonceDays: 9999 }],
    ['VPN_NETWORKS', undefined, { vpnNetworks: undefined }],
    ['VPN_NETWORKS', '/etc/latchkey/networks.txt', { vpnNetworks: '/etc/latchkey/networks.txt' }],
    ['BROKER_URL', undefined, { brokerUrl: undefined }],
    ['BROKER_URL', 'mqtts://me:hunter2@broker.example', { brokerUrl: 'mqtts://me:hunter2@broker.example' }],
    ['SMTP_URL', undefined, { smtpUrl: undefined }],
    ['SMTP_URL', 'smtps://me:hunter2@mail.example', { smtpUrl: 'smtps://me:hunter2@mail.example' }],
    ['MAIL_FROM', undefined, { mailFrom: undefined }],
    ['MAIL_FROM', 'a@mail.example', { mailFrom: { name: '', address: 'a@mail.example' } }],
    ['MAIL_FROM', 'Żaba <a@mail.example>', { mailFrom: { name: 'Żaba', address: 'a@mail.example' } }],
    ['MAIL_FROM', '"A, B" <a@mail.example>', { mailFrom: { name: 'A, B', address: 'a@mail.example' } }],
    ['METRICS_TOKEN', undefined, { metricsToken: undefined }],
    ['METRICS_TOKEN', '0123456789abcdef', { metricsToken: '0123456789abcdef' }],
    ['ADMIN_TOKEN', undefined, { adminTokens: undefined }],
    ['ADMIN_TOKEN', 'a'.repeat(32), { adminTokens: ['a'.repeat(32)] }],
    ['ADMIN_TOKEN', `${'a'.repeat(32)},${'b'.repeat(40)}`, { adminTokens: ['a'.repeat(32), 'b'.repeat(40)] }],
    ['STRIPE_SECRET_KEY', undefined, { stripe: undefined }],
  ])('%s=%s', (name, value, expected) => {
    expect(loadConfig({ ...good, [name]: value })).toMatchObject(expected);
  });
});

describe('startup fails on a wrong setting with one line that names it', () => {
  test.each([
    ['HOST', '192.0.2.1'],
    ['HOST', '999.1.1.1'],
    ['DATABASE_URL', 'postgres://me:hunter2@ho st:port/latchkey'],
    ['DATABASE_URL', 'postgres://me:hunter2@127.0.0.1:1/latchkey'],
    ['DATABASE_URL', `postgres://me:hunter2@127.0.0.1:${wrongPasswordPort}/latchkey`],
    ['DATABASE_URL', DATABASE_URL.replace(/test_\w+/, 'missing_database')],
    ['MASTER_KEY', short],
    ['LOG_LEVEL', 'loud'],
    ['BASE_URL', 'ftp://latchkey.example'],
    ['WEB_URL', 'not an address'],
    ['DEMO', 'maybe'],
    ['TRUSTED_PROXIES', 'everyone'],
    ['RATE_LIMIT', 'unlimited'],
    ['NONCE_DAYS', 'forever'],
    ['BROKER_URL', 'amqp://me:hunter2@127.0.0.1'],
    ['SMTP_URL', 'imap://me:hunter2@127.0.0.1'],
    ['SMTP_URL', 'smtp://me:hunter2@127.0.0.1/path'],
    ['SMTP_URL', 'smtp://hunter2@127.0.0.1'],
    ['MAIL_FROM', 'hunter2'],
    ['METRICS_TOKEN', 'hunter2'],
    ['ADMIN_TOKEN', 'hunter2'],
    ['STRIPE_SECRET_KEY', 'hunter2'],
  ])('%s=%s', async (name, value) => {
    const line = await expectRefusal(name, { [name]: value });
    if (name === 'MASTER_KEY') expect(line).not.toContain(value);
  });

  // As processes: refused before anything was opened, and after everything else was.
  test.concurrent.each([
    ['PORT', 'abc'],
    ['DATABASE_URL', 'mysql://me:hunter2@127.0.0.1/latchkey'],
    ['PORT', String(takenPort)],
  ])('%s=%s', async (name, value) => {
    await expectProcessToEnd(name, { [name]: value });
  });

  test('STRIPE_SECRET_KEY without STRIPE_WEBHOOK_SECRET', async () => {
    await expectRefusal('STRIPE_WEBHOOK_SECRET', { STRIPE_SECRET_KEY: 'sk_test_hunter2' });
  });

  test('DATA_DIR that is a file, with the embedded database and without', async () => {
    await expectRefusal('DATA_DIR', { DATABASE_URL: '', DATA_DIR: file });
    await expectRefusal('DATA_DIR', { MASTER_KEY: '', DATA_DIR: file });
    await expectRefusal('DATA_DIR', { DATABASE_URL: '', DATA_DIR: join(file, 'below') });
  });

  test('an unreachable database fails the start quickly', async () => {
    const silent = await listen(createServer());
    const began = performance.now();
    await expectRefusal('DATABASE_URL', {
      DATABASE_URL: `postgres://me:hunter2@127.0.0.1:${silent}/latchkey`,
    });
    expect(performance.now() - began).toBeLessThan(18_000);
  });
});

describe('two processes', () => {
  /** Every other setting is empty. */
  let plain: ServiceProcess;
  /** Its broker and its list are missing, and its clients see it at another address. */
  let published: ServiceProcess;
  /** The address at which `published` listens. */
  let local: string;

  beforeAll(async () => {
    const others = Object.keys(settings).filter((name) => !(name in good));
    const empty = { ...Object.fromEntries(others.map((name) => [name, ''])), PORT: '0', LOG_LEVEL: '' };
    const [port, brokerPort] = [await freePort(), await freePort()];
    local = `http://127.0.0.1:${port}`;
    [plain, published] = await Promise.all([
      spawnService({ ...good, ...empty }, atFileEnd),
      spawnService(
        {
          ...good,
          HOST: '127.0.0.1',
          BASE_URL: 'https://api.latchkey.example/',
          WEB_URL: 'https://www.latchkey.example',
          PORT: String(port),
          BROKER_URL: `mqtt://me:hunter2@127.0.0.1:${brokerPort}`,
          VPN_NETWORKS: join(file, 'below'),
        },
        atFileEnd,
      ),
    ]);
  });

  test('PORT=0 picks free ports, which the services print', async () => {
    const other = await startHere({ ...good, PORT: '0' });
    const services = [plain, other];
    const ports = services.map(({ api }) => new URL(api.baseUrl).port);
    expect(new Set(ports).size).toBe(2);
    for (const { api } of services) expect((await api.call('GET', '/health')).status).toBe(200);
  });

  test('BASE_URL and WEB_URL are the URLs that clients see', async () => {
    expect(published.output().stdout).toContain('listening on https://api.latchkey.example\n');
    // The printed URL is the public one. Requests go to the port in the setting.
    const document = (await (await fetch(`${local}/openapi.json`)).json()) as { servers: { url: string }[] };
    expect(document.servers.map(({ url }) => url)).toEqual(['https://api.latchkey.example']);
    const problem = (await (await fetch(`${local}/nowhere`)).json()) as Record<string, string>;
    expect(problem['type']).toBe('https://www.latchkey.example/errors/not-found');
    expect(problem['docs_url']).toBe(problem['type']);
    expect((await fetch(`${local}/errors/not-found`)).status).toBe(200);
  });

  test('WEB_URL defaults to BASE_URL, which defaults to the listening address', async () => {
    const { baseUrl } = plain.api;
    const problem = (await (await fetch(`${baseUrl}/nowhere`)).json()) as Record<string, string>;
    expect(problem['type']).toBe(`${baseUrl}/errors/not-found`);
    const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as {
      servers: { url: string }[];
    };
    expect(document.servers.map(({ url }) => url)).toEqual([baseUrl]);
  });

  test('an empty setting counts as not set', async () => {
    expect(plain.api.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await plain.end('SIGTERM')).toBe(0);
  });

  test('an unavailable broker, or a missing list, does not prevent the start', async () => {
    const api = new Api(local);
    const health = await api.health();
    expect(health.body).toMatchObject({ code: 'HEALTH_CHECK_FAILED' });
    expect((await api.plans()).status).toBe(200);
    expect(await published.end('SIGTERM')).toBe(0);
    expect(published.output().stderr).not.toContain('hunter2');
  });
});

test('an IPv6 address is printed as a usable URL', async () => {
  const service = await startHere({ ...good, HOST: '::1' });
  expect(service.api.baseUrl).toMatch(/^http:\/\/\[::1\]:\d+$/);
  expect((await service.api.call('GET', '/health')).status).toBe(200);
});

describe('MASTER_KEY', () => {
  const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')] as const;

  test('must be the key of the database, or startup fails', async () => {
    const url = await createTestDatabase();
    await startHere({ ...good, DATABASE_URL: url, MASTER_KEY: first });
    await expectRefusal('MASTER_KEY', { DATABASE_URL: url, MASTER_KEY: second });
  });

  test('a start with another one creates no keys, even if some are missing', async () => {
    const url = await createTestDatabase();
    await (await startHere({ ...good, DATABASE_URL: url, MASTER_KEY: first })).stop();
    const database = await connectTo(url);
    await database.query("delete from data_keys where purpose = 'challenge-hmac'");
    await expectRefusal('MASTER_KEY', { DATABASE_URL: url, MASTER_KEY: second });
    const service = await startHere({ ...good, DATABASE_URL: url, MASTER_KEY: first });
    expect((await service.api.call('GET', '/health')).status).toBe(200);
  });

  test('can be rotated: the new one first, then without the old one', async () => {
    const url = await createTestDatabase();
    const environment = { ...good, DATABASE_URL: url };
    const before = await startHere({ ...environment, MASTER_KEY: first });
    const app = await newApp(before.api);
    const session = await newSession(before.api, app);
    const [key] = await app.keys(1);
    await before.stop();

    const works = async (masterKey: string) => {
      const service = await startHere({ ...environment, MASTER_KEY: masterKey });
      const { api } = service;
      expect((await api.init(app.with({}))).status).toBe(200);
      expect((await api.verify({ app_id: app.app_id, token: session.token })).status).toBe(200);
      const path = `/api/v2/dev/apps/${app.app_id}/licenses`;
      const { body } = await api.call<{ data: { license_key: string }[] }>('GET', path, undefined, {
        token: app.token,
      });
      expect(body.data.map((license) => license.license_key)).toEqual([key]);
      return service;
    };
    const rotating = await works(`${second}, ${first}`);
    // Housekeeping reseals the rest, beginning with the start.
    const sealedUnder = createHash('sha256')
      .update('latchkey master key id')
      .update(Buffer.from(first, 'base64'))
      .digest()
      .subarray(0, 8);
    const database = await connectTo(url);
    for (let waited = 0; ; waited += 50) {
      const { rows } = await database.query(
        `select 1 from applications where substring(secret_sealed from 1 for 8) = $1
         union all select 1 from licenses where substring(key_sealed from 1 for 8) = $1
         union all select 1 from data_keys where substring(sealed from 1 for 8) = $1
         union all select 1 from signing_keys where substring(sealed from 1 for 8) = $1`,
        [sealedUnder],
      );
      if (rows.length === 0) break;
      expect(waited, 'values are still sealed under the old key').toBeLessThan(20_000);
      await delay(50);
    }
    await rotating.stop();
    // As documented for the setting.
    await works(second);
  });
});

test('a generated master key is kept with an external database, too', async () => {
  const dataDir = await temporaryDataDir();
  const url = await createTestDatabase();
  const environment = { DATABASE_URL: url, MASTER_KEY: '', DATA_DIR: dataDir };
  for (let round = 0; round < 2; round += 1) {
    const service = await startHere(environment);
    expect((await service.api.call('GET', '/health')).status).toBe(200);
  }
  await expectRefusal('MASTER_KEY', { DATABASE_URL: url, MASTER_KEY: '', DATA_DIR: `${dataDir}-other` });
});
