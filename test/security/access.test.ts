import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { components } from '../../generated/types.ts';
import { catalog } from '../../src/foundation/errors/catalog.ts';
import { sign, type V2Operation } from '../concurrency/signed.ts';
import { access, credential, newChallenge } from '../operations/support/machine-payments.ts';
import { newResetToken } from '../operations/support/passwords.ts';
import { connectTo, createTestDatabase } from '../support/database.ts';
import { expectContract } from '../support/exchange.ts';
import {
  newApp,
  newDeveloper,
  newHwid,
  newNonce,
  newSession,
  newUser,
  unique,
  type App,
} from '../support/fixtures.ts';
import { startIdentityProvider, trusting } from '../support/identity-provider.ts';
import { spawnService, temporaryFolder } from '../support/processes.ts';
import { newBrowserSession } from '../support/browser-session.ts';
import { ADMIN_TOKEN, MASTER_KEY, readMails } from '../support/service.ts';
import { AGENT_HANDLES, authorizeClientAndAgents } from './support/agents.ts';
import { clearApplication } from './support/clear.ts';
import { newTrustedClient, newTrustedSession } from '../support/trusted-client.ts';
import { sendRefusedMail } from './support/mails.ts';
import { payWithStripe, payForEverything } from './support/payments.ts';
import { sendRaw } from './support/raw.ts';

// Test files share modules, so the modules that use the library are loaded again here, with the spy.
vi.mock('@node-rs/argon2', { spy: true });
vi.resetModules();
const argon2 = await import('@node-rs/argon2');
const { startTestService } = await import('../support/service.ts');

const service = await startTestService({}, { hashing: 'each' });
const { api } = service;

/** Members that must have no effect: names of columns, and fields that other systems trust clients to send. */
const INJECTED = {
  role: 'admin',
  roles: ['admin'],
  is_admin: true,
  admin: true,
  tier: 'VIP',
  tiers_override: ['VIP'],
  subscription_tier: 'VIP',
  subscription_expires_at: '9999-12-31T23:59:59.999Z',
  balance: 1_000_000,
  price: 0,
  user_id: 'usr_injected',
  developer_id: 'dev_injected',
  license_id: 'lic_injected',
  plan_id: 'enterprise',
  plan: 'enterprise',
  max_apps: 1_000,
  max_users_per_app: 1_000_000,
  apps: -100,
  users: -100,
  paused_total_ms: 999_999_999,
  paused_at: null,
  status_code: 'active',
  secret_sealed: 'x',
  username_key: 'x',
  password_hash: 'x',
  hwid_digest: 'x',
  email_key: 'x',
  key_digest: 'x',
  redeemed_at: null,
  redeemed_by: 'usr_injected',
  deleted_at: '2020-01-01T00:00:00Z',
  created_at: '2020-01-01T00:00:00Z',
  expires_at: '9999-12-31T23:59:59.999Z',
  ended_at: null,
  expiry: '9999-12-31T23:59:59.999Z',
  session_id: 'x'.repeat(22),
  developer: { developerId: 'dev_injected' },
  requestBody: {},
  path: { app_id: 'app_injected' },
  query: { limit: 100_000 },
  $where: '1=1',
  sandbox: false,
  valid: false,
  entitlements: { plan: 'enterprise', features: ['admin'] },
  sub: 'usr_injected',
  aud: 'app_injected',
  exp: 99_999_999_999,
  client: { address: '203.0.113.66' },
  signer: { application: { app_id: 'app_injected' } },
  unsigned: false,
  requireSignatures: true,
  has_bans: true,
  ban_id: 'ban_injected',
  hwid_lock_override: false,
  constructor: { prototype: { role: 'admin' } },
};

/** The rows of each table. */
async function dump(url: string): Promise<Record<string, Record<string, unknown>[]>> {
  const client = await connectTo(url);
  const { rows } = await client.query<{ table_name: string }>(
    "select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  const tables: Record<string, Record<string, unknown>[]> = {};
  for (const { table_name: table } of rows) {
    tables[table] = (await client.query<Record<string, unknown>>(`select * from "${table}"`)).rows;
  }
  return tables;
}

describe('members that no client may set', () => {
  test('a walk through the API with all of them has the same effect as one without', async () => {
    const walk = async (extra: object) => {
      const databaseUrl = await createTestDatabase();
      const one = await startTestService({ DATABASE_URL: databaseUrl });
      const account = { email: 'dev@example.com', password: 'a developer password' };
      const { app_id: _unused, ...more } = { app_id: '', ...extra };
      const post = async <Body>(path: string, body: object, token?: string) =>
        (await one.api.post<Body>(path, { ...more, ...body }, { token })).body;
      const { token } = await post<{ token: string }>('/api/v2/dev/register', account);
      await post('/api/v2/dev/login', account);
      const app = await post<{ app_id: string; secret: string }>('/api/v2/dev/apps', { name: 'App' }, token);
      const own = `/api/v2/dev/apps/${app.app_id}`;
      // Valid members of this operation override the injected ones.
      const { licenses } = await post<{ licenses: { license_key: string }[] }>(
        `${own}/licenses`,
        { amount: 2, duration_days: 7, tier: 'Standard', redeem_by: null, note: null },
        token,
      );
      const credentials = { app_id: app.app_id, secret: app.secret };
      const user = { username: 'ada', password: 'a user password', hwid: 'a machine' };
      await post('/api/v1/client/init', credentials);
      await post('/api/v1/client/register', { ...credentials, ...user, email: 'ada@example.com' });
      const session = await post<{ token: string }>('/api/v1/client/login', { ...credentials, ...user });
      const handle = { app_id: app.app_id, token: session.token, hwid: user.hwid };
      const { license_key } = licenses[0]!;
      const responses: Record<string, unknown>[] = [];
      responses.push(await post('/api/v1/client/activate', { ...credentials, username: 'ada', license_key }));
      responses.push(await post('/api/v1/client/verify-session', handle));

      const signed = async (operation: V2Operation, body: object) => {
        const { text, headers } = sign(app, { ...more, ...body }, one.clock.now().getTime());
        const path = `/api/v2/client/${operation}`;
        const response = await one.api.post<{ token: string }>(path, text, { headers });
        expect(response.status, path).toBe(200);
        return response.body;
      };
      const { token: encrypted } = await signed('login', { ...user, nonce: 'the nonce of the login' });
      const nonce = 'the nonce of the verification';
      responses.push(await signed('verify-session', { token: encrypted, hwid: user.hwid, nonce }));
      responses.push(await signed('logout', { session_token: encrypted, nonce: 'the nonce of the logout' }));
      const key = licenses[1]!.license_key;
      const licensed = { app_id: app.app_id, license_key: key, hwid: 'the machine of a license' };
      const byLicense = await post<{ token: string }>('/api/v2/client/login-license', licensed);
      const byLicenseHandle = { app_id: app.app_id, token: byLicense.token };
      responses.push(await post('/api/v2/client/verify-session', byLicenseHandle));

      const agent = { app_id: 'sandbox', username: 'agent', hwid: 'a machine' };
      const sandbox = await post<{ token: string }>('/api/v1/sandbox/auth', agent);
      responses.push({ ...sandbox, token: '' });
      const sandboxHandle = { app_id: 'sandbox', token: sandbox.token, hwid: agent.hwid };
      responses.push(await post('/api/v1/sandbox/verify-session', sandboxHandle));

      // Bans have expires_at and reason, so both are set here.
      const terms = { reason: null, expires_at: null };
      const banned = [
        { kind: 'user', username: 'ada' },
        { kind: 'hardware', hwid: 'another machine' },
        { kind: 'network', network: '203.0.113.0/24' },
      ];
      for (const each of banned) responses.push(await post(`${own}/bans`, { ...terms, ...each }, token));

      await one.api.call(
        'PATCH',
        own,
        { ...more, name: 'Renamed', status: 'active', tiers: undefined },
        { token },
      );
      await post('/api/v2/client/logout', { app_id: app.app_id, session_token: byLicense.token });
      // Events get their positions asynchronously.
      const client = await connectTo(databaseUrl);
      const unpublished = async () =>
        (
          await client.query(
            `select 1 from events where position is null
             or position > (select position from relay_positions where name = 'log')`,
          )
        ).rowCount;
      await expect.poll(unpublished).toBe(0);
      while ((await one.services.licenses.foldCounts()) > 0);
      while ((await one.services.sessions.foldCounts()) > 0);
      const rows = await dump(databaseUrl);
      // Housekeeping may have folded some of the changes before, which leaves rows of 0, and another order.
      const keyOf = ({ tier, status, expires_minute }: Record<string, unknown>) =>
        JSON.stringify([tier, status, expires_minute]);
      for (const table of ['license_counts', 'session_counts'])
        rows[table] = rows[table]!.filter(({ count }) => Number(count) !== 0).sort((a, b) =>
          keyOf(a) < keyOf(b) ? -1 : 1,
        );
      return { rows, responses };
    };
    /** Columns with random values, or values derived from them. */
    const VARYING = /(^|_)(id|digest|sealed|hash|by|url|key|kid|jwk|expire|signature)$/;
    const withoutIds = (data: unknown): unknown =>
      JSON.parse(JSON.stringify(data).replaceAll(/"[a-z]{3}_[0-9a-z]{26}"/g, '"(varies)"'));
    const settled = (row: Record<string, unknown>) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => {
          // The username of a license login is the user's id.
          const varies =
            (VARYING.test(name) && name !== 'plan_id') || /^(usr|dev|app|lic|ban)_/.test(String(value));
          if (varies && value !== null) return [name, '(varies)'];
          // The data of an event or an audit log entry.
          return [name, name === 'data' ? withoutIds(value) : value];
        }),
      );
    const comparable = ({ rows, responses }: Awaited<ReturnType<typeof walk>>) => {
      const { schema_migrations: _a, schema_migrations_lock: _b, data_keys: _c, ...changed } = rows;
      return {
        rows: Object.fromEntries(Object.entries(changed).map(([table, all]) => [table, all.map(settled)])),
        responses: responses.map(settled),
      };
    };
    const plain = comparable(await walk({}));
    const injected = comparable(await walk(INJECTED));
    expect(injected).toEqual(plain);
    expect(JSON.stringify(injected)).not.toMatch(/injected|enterprise|admin/);
  });

  test('a PATCH with only unknown members changes nothing', async () => {
    const app = await newApp(api);
    const own = `/api/v2/dev/apps/${app.app_id}`;
    const before = await api.call('GET', own, undefined, app);
    service.clock.advance(1_000);
    await api.call('PATCH', own, { ...INJECTED, app_id: 'x', secret: 'x' }, app);
    const after = await api.call('GET', own, undefined, app);
    expect(after.body).toEqual(before.body);
    expect((await api.init(app.with({}))).status).toBe(200);
  });

  test('no prototype was polluted', () => {
    expect(({} as Record<string, unknown>)['role']).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe('responses do not reveal what exists', () => {
  const hashes = async (work: () => Promise<unknown>) => {
    vi.mocked(argon2.verify).mockClear();
    vi.mocked(argon2.hash).mockClear();
    await work();
    return {
      verify: vi.mocked(argon2.verify).mock.calls.length,
      hash: vi.mocked(argon2.hash).mock.calls.length,
    };
  };
  /** A response without what differs from one request to the next. */
  const comparableOf = ({ status, headers, body }: { status: number; headers: Headers; body: object }) => ({
    status,
    body: { ...body, timestamp: '', request_id: '' },
    headers: [...headers.keys()],
    length: headers.get('content-length'),
  });

  test('existing and missing users get the same response after the same work', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const bound = { ...user, password: 'a wrong password' };
    const responses: unknown[] = [];
    const work: unknown[] = [];
    for (const each of [
      bound,
      { ...bound, hwid: newHwid() },
      { ...bound, username: unique('user') },
      { ...bound, username: unique('user'), password: user.password },
    ]) {
      work.push(await hashes(async () => responses.push(comparableOf(await api.login(app.with(each))))));
    }
    for (const response of responses) expect(response).toEqual(responses[0]);
    expect(responses[0]).toMatchObject({ status: 401, body: { code: 'INVALID_CREDENTIALS' } });
    for (const each of work) expect(each).toEqual({ verify: 1, hash: 0 });
    // A missing user's password is verified against a decoy hash with the same parameters.
    const [own, , decoy] = vi.mocked(argon2.verify).mock.calls.map(([phc]) => String(phc));
    expect(own?.split('$').slice(0, 4)).toEqual((decoy ?? own)?.split('$').slice(0, 4));
  });

  test('existing and missing developers get the same response after the same work', async () => {
    const developer = await newDeveloper(api);
    const responses: unknown[] = [];
    for (const email of [developer.email, `${unique('missing')}@example.com`]) {
      const body = { email, password: 'a wrong password' };
      const work = await hashes(async () =>
        responses.push(comparableOf(await api.post('/api/v2/dev/login', body))),
      );
      expect(work).toEqual({ verify: 1, hash: 0 });
    }
    expect(responses[1]).toEqual(responses[0]);
  });

  test('missing, foreign and deleted applications and wrong secrets get the same response', async () => {
    const app = await newApp(api);
    const foreign = await newApp(api);
    const deleted = await newApp(api);
    await api.call('DELETE', `/api/v2/dev/apps/${deleted.app_id}`, undefined, deleted);
    const user = { username: 'ada', password: 'a user password', hwid: 'a machine', license_key: 'x' };
    for (const path of ['init', 'register', 'login', 'activate']) {
      const responses = [];
      for (const { app_id, secret } of [
        { app_id: app.app_id, secret: foreign.secret },
        { app_id: foreign.app_id, secret: app.secret },
        { app_id: app.app_id, secret: `${app.secret} ` },
        { app_id: app.app_id, secret: app.secret.toLowerCase() },
        { app_id: 'app_nothing', secret: app.secret },
        { app_id: '__proto__', secret: app.secret },
        { ...deleted },
      ]) {
        responses.push(comparableOf(await api.post(`/api/v1/client/${path}`, { ...user, app_id, secret })));
      }
      expect(responses[0]).toMatchObject({ status: 401, body: { code: 'INVALID_APP_CREDENTIALS' } });
      for (const response of responses) expect(response).toEqual(responses[0]);
    }
  });

  test('an app_id with NUL is refused like any unknown one', async () => {
    const app = await newApp(api);
    const { status } = await api.init({ app_id: `${app.app_id}\u0000`, secret: app.secret });
    expect([400, 401]).toContain(status);
  });

  test('an application of another developer looks like one that does not exist', async () => {
    const app = await newApp(api);
    await app.keys(1);
    const owner = await newUser(api, app);
    const bans = `/api/v2/dev/apps/${app.app_id}/bans`;
    const ban = await api.post(bans, { kind: 'user', username: owner.username }, app);
    const stranger = await newDeveloper(api);
    const absent = `app_${'0'.repeat(26)}`;
    for (const [method, tail, body] of [
      ['GET', ''],
      ['PATCH', '', { name: 'mine' }],
      ['DELETE', ''],
      ['GET', '/licenses'],
      ['POST', '/licenses', { amount: 1, duration_days: 1, tier: 'Pro' }],
      ['POST', '/licenses', { amount: 1, duration_days: 1, tier: 'no such tier' }],
      ['GET', '/bans'],
      ['POST', '/bans', { kind: 'network', network: '203.0.113.0/24' }],
      ['POST', '/bans', { kind: 'user', username: owner.username }],
      ['POST', '/bans', { kind: 'user', username: 'missing' }],
      ['POST', '/bans', { kind: 'network', network: 'no network' }],
      ['DELETE', `/bans/${ban.body['ban_id']}`],
      ['DELETE', `/bans/ban_${'0'.repeat(26)}`],
    ] as const) {
      const responses = [];
      for (const id of [app.app_id, absent]) {
        const response = await api.call(method, `/api/v2/dev/apps/${id}${tail}`, body, stranger);
        responses.push(comparableOf({ ...response, body: { ...response.body, instance: '' } }));
      }
      expect(responses[0], `${method} ${tail}`).toMatchObject({ status: 404 });
      expect(responses[1]).toEqual(responses[0]);
    }
    const { body } = await api.call('GET', '/api/v2/dev/apps', undefined, stranger);
    expect(body['data']).toEqual([]);
    expect((await api.init(app.with({}))).status).toBe(200);
    const own = await api.call<{ data: unknown[] }>('GET', bans, undefined, app);
    expect(own.body.data).toHaveLength(1);
  });

  test("a ban of the developer's other application looks like one that does not exist", async () => {
    const developer = await newDeveloper(api);
    const [one, two] = [await newApp(api, developer), await newApp(api, developer)];
    const at = ({ app_id }: { app_id: string }) => `/api/v2/dev/apps/${app_id}/bans`;
    const made = await api.post(at(one), { kind: 'network', network: '203.0.113.0/24' }, one);
    const responses = [];
    for (const id of [made.body['ban_id'], `ban_${'0'.repeat(26)}`]) {
      const response = await api.call('DELETE', `${at(two)}/${id}`, undefined, two);
      responses.push(comparableOf({ ...response, body: { ...response.body, instance: '' } }));
    }
    expect(responses[0]).toMatchObject({ status: 404, body: { code: 'BAN_NOT_FOUND' } });
    expect(responses[1]).toEqual(responses[0]);
    const listed = await api.call<{ data: object[] }>('GET', at(two), undefined, two);
    expect(listed.body.data).toEqual([]);
    const kept = await api.call<{ data: object[] }>('GET', at(one), undefined, one);
    expect(kept.body.data).toMatchObject([{ ban_id: made.body['ban_id'] }]);
    const cursor = Buffer.from(String(made.body['ban_id'])).toString('base64url');
    const beyond = await api.call('GET', `${at(two)}?cursor=${cursor}`, undefined, two);
    expect(beyond.body['data']).toEqual([]);
  });

  test('cursors and license keys of another application do not work', async () => {
    const [one, two] = [await newApp(api), await newApp(api)];
    const [key] = await one.keys(3);
    const page = await api.call<{ next_cursor: string }>(
      'GET', `/api/v2/dev/apps/${one.app_id}/licenses?limit=1`, undefined, one,
    ); // prettier-ignore
    const listed = await api.call(
      'GET', `/api/v2/dev/apps/${two.app_id}/licenses?cursor=${page.body.next_cursor}`, undefined, two,
    ); // prettier-ignore
    expect(listed.body['data']).toEqual([]);
    const user = await newUser(api, two);
    const activated = await api.activate(two.with({ username: user.username, license_key: key! }));
    expect(activated.body.code).toBe('LICENSE_NOT_FOUND');
  });
});

describe('while an application is being deleted', () => {
  test('requests in progress are refused, without a 5xx', async () => {
    const app = await newApp(api);
    const owner = await newUser(api, app);
    const [key] = await app.keys(1);
    const own = `/api/v2/dev/apps/${app.app_id}`;
    const { hash } = await vi.importActual<typeof import('@node-rs/argon2')>('@node-rs/argon2');
    const cleared = Promise.withResolvers<void>();
    let hashing = 0;
    vi.mocked(argon2.hash).mockImplementation(async (...wanted) => {
      hashing += 1;
      if (hashing > 2) await cleared.promise;
      return hash(...wanted);
    });
    onTestFinished(() => {
      cleared.resolve();
      vi.mocked(argon2.hash).mockImplementation(hash);
    });
    const registrations = Array.from({ length: 12 }, (_, n) =>
      api.register(app.with({ username: `late-${n}`, password: 'a user password', hwid: newHwid() })),
    );
    const others = [
      api.login(app.with(owner)),
      api.activate(app.with({ username: owner.username, license_key: key! })),
    ];
    // All passed the check of credentials: two were hashed, the third is held there, and the rest are queued.
    await expect.poll(() => hashing, { interval: 1 }).toBeGreaterThan(2);
    expect((await api.call('DELETE', own, undefined, app)).status).toBe(200);
    await clearApplication(service, app.app_id);
    cleared.resolve();
    const statuses = (await Promise.all([...registrations, ...others])).map(({ status }) => status);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    expect(statuses.filter((status) => status >= 400)).not.toEqual([]);
  });
});

describe('a developer who stops an application', () => {
  test.each(['disabled', 'paused'] as const)(
    'sets it to %s without delay during a flood of activations',

    async (status) => {
      const app = await newApp(api);
      const users = await Promise.all(Array.from({ length: 8 }, () => newUser(api, app)));
      const nodes = [service, await startTestService({ DATABASE_URL: service.databaseUrl })];
      let running = true;
      let requested = 0;
      const floods = nodes.flatMap(({ services }) =>
        users.map(async ({ username }) => {
          const application = await services.applications.authenticate(app.app_id, app.secret);
          // A refusal without a query must still yield to other work, and the flood must end.
          for (
            const end = performance.now() + 60_000;
            running && performance.now() < end;
            await setImmediate()
          ) {
            await services.users
              .activate(application, username, '00000-00000-00000-00000-00000', { address: '127.0.0.1' })
              .catch(() => {});
            requested += 1;
          }
        }),
      );
      onTestFinished(() => void (running = false));
      await expect.poll(() => requested, { interval: 5, timeout: 30_000 }).toBeGreaterThan(200);
      const started = performance.now();
      const response = await api.call('PATCH', `/api/v2/dev/apps/${app.app_id}`, { status }, app);
      const took = performance.now() - started;
      running = false;
      await Promise.all(floods);
      expect({ status: response.status, code: response.body['code'] }).toEqual({
        status: 200,
        code: undefined,
      });
      expect(took).toBeLessThan(5_000);
    },
  );
});

/** The members of responses that the test reads. */
interface Secrets extends Record<string, unknown> {
  readonly token?: string;
  readonly secret?: string;
  readonly reseller_id?: string;
}

describe('secrets at rest', () => {
  /** A secret in every encoding in which it could have been stored or logged. */
  function forms(secret: string): Map<string, string> {
    const bytes = Buffer.from(secret);
    const found = new Map([
      ['plain', secret],
      ['hex', bytes.toString('hex')],
      ['JSON', JSON.stringify(secret).slice(1, -1)],
      ['sha256', createHash('sha256').update(bytes).digest('hex')],
    ]);
    for (let shift = 0; shift < 3; shift++) {
      const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
      const inner = text.slice(shift === 0 ? 0 : 4, text.length - 4);
      if (inner.length < 8) continue;
      found.set(`base64 ${shift}`, inner);
      found.set(`base64url ${shift}`, inner.replaceAll('+', '-').replaceAll('/', '_'));
    }
    return found;
  }

  test('neither the database nor the log of a process at LOG_LEVEL=trace holds one', async () => {
    const databaseUrl = await createTestDatabase();
    const provider = await startIdentityProvider();
    const dataDir = await temporaryFolder();
    const environment = {
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      MASTER_KEY,
      ADMIN_TOKEN,
      LOG_LEVEL: 'trace',
      ...trusting(provider.issuer),
    };
    const process_ = await spawnService(environment);
    const { api: remote } = process_;
    const secrets = new Map<string, string>([['master key', MASTER_KEY]]);
    const handles = new Set<string>();
    const keep = (name: string, value: string) => {
      secrets.set(name, value);
      return value;
    };

    const email = `${unique('dev')}@example.com`;
    const password = keep('developer password', `pw-${randomBytes(12).toString('hex')}`);
    const registered = await remote.post<components['schemas']['DeveloperSessionResult']>(
      '/api/v2/dev/register',
      {
        email,
        password,
      },
    );
    const token = keep('developer token', registered.body.token);
    const developer = { developerId: registered.body.developer_id, token, email, password };
    handles.add('developer token');
    await remote.post('/api/v2/dev/login', { email, password: keep('wrong password', `no-${password}`) });
    const made = await remote.post<{ app_id: string; secret: string }>(
      '/api/v2/dev/apps',
      { name: 'App' },
      { token },
    );
    const { app_id } = made.body;
    const secret = keep('app secret', made.body.secret);
    const own = `/api/v2/dev/apps/${app_id}`;
    const wanted = { amount: 3, duration_days: 7, tier: 'Pro' };
    const { licenses } = (
      await remote.post<{ licenses: { license_key: string }[] }>(`${own}/licenses`, wanted, { token })
    ).body;
    const [first, second, third] = licenses.map(({ license_key }, index) =>
      keep(`license ${index}`, license_key),
    );
    for (const key of [first!, second!, third!]) keep(`${key} without dashes`, key.replaceAll('-', ''));

    const app = { app_id, secret };
    const user = {
      username: unique('user'),
      password: keep('user password', `pw-${randomBytes(12).toString('hex')}`),
      hwid: keep('hwid', newHwid()),
    };
    await remote.register({ ...app, ...user, license_key: first! });
    const login = await remote.login({ ...app, ...user });
    keep('session token', login.body.token);
    keep('session id', login.body.session_id);
    handles.add('session token').add('session id');
    await remote.login({ ...app, ...user, hwid: keep('other hwid', newHwid()) });
    await remote.login({ ...app, ...user, password: secrets.get('wrong password')! });
    await remote.activate({ ...app, username: user.username, license_key: first! });
    await remote.activate({ ...app, username: user.username, license_key: second! });
    const v2 = async (operation: V2Operation, body: object) => {
      const { text, headers } = sign(app, body);
      keep(`signature of ${operation}`, headers['x-signature']);
      const path = `/api/v2/client/${operation}`;
      return remote.post<{ token: string; code?: string }>(path, text, { headers });
    };
    const nonce = newNonce();
    const { body: encrypted } = await v2('login', { ...user, nonce });
    keep('encrypted token', encrypted.token);
    handles.add('encrypted token');
    expect((await v2('login', { ...user, nonce })).body.code).toBe('NONCE_REUSED');
    await v2('verify-session', { token: encrypted.token, hwid: user.hwid, nonce: newNonce() });
    const licensed = { license_key: third!, hwid: keep('hwid of a license', newHwid()) };
    keep('token of a license', (await v2('login-license', licensed)).body.token);
    handles.add('token of a license');
    const trusted = await newTrustedClient(remote, { ...app, token } as App, () => new Date());
    keep('hwid of a device', trusted.device.hwid);
    const ofDevice = await newTrustedSession(trusted);
    keep('token of a device', ofDevice.token);
    keep('session id of a device', ofDevice.session_id);
    handles.add('token of a device').add('session id of a device');
    const agent = { app_id, username: 'agent', hwid: keep('hwid in the sandbox', newHwid()) };
    const sandbox = await remote.post<{ token: string }>('/api/v1/sandbox/auth', agent);
    const sandboxToken = keep('sandbox token', sandbox.body.token);
    await remote.post('/api/v1/sandbox/verify-session', { app_id, token: sandboxToken, hwid: agent.hwid });
    // Members of some operations are sent to others that do not take them.
    await v2('login', { ...user, nonce: newNonce(), secret, token: login.body.token });
    await remote.post('/api/v1/client/verify-session', {
      ...app,
      ...user,
      token: 'none',
      license_key: first,
    });
    const misspelled = { ...app, username: user.username, Password: user.password, extra: { user, secret } };
    await remote.post('/api/v1/client/login', misspelled);
    await remote.post(own, { name: secret, password }, { token });
    const ban = { kind: 'hardware', hwid: keep('banned hwid', newHwid()) };
    await remote.post(`${own}/bans`, ban, { token });
    await remote.verify({ app_id, token: login.body.token, hwid: user.hwid });
    await remote.verify({ app_id, token: keep('unknown token', `tk-${randomBytes(30).toString('hex')}`) });
    const bot = { name: 'bot', scopes: ['read'] };
    const once = { token, headers: { 'idempotency-key': 'once' } };
    keep('API token', (await remote.post<Secrets>('/api/v2/dev/tokens', bot, once)).body.token!);
    handles.add('API token');
    const hook = { url: 'https://example.com/hook', types: ['*'] };
    keep('webhook secret', (await remote.post<Secrets>(`${own}/webhooks`, hook, { token })).body.secret!);
    const shop = { name: 'Shop', currency: 'USD', commission_margin: 10 };
    const { body: reseller } = await remote.post<Secrets>('/api/v2/dev/resellers', shop, { token });
    const resold = `/api/v2/dev/resellers/${reseller.reseller_id}`;
    const prices = [{ app_id, tier: 'Pro', duration_days: 30, price: 5 }];
    await remote.call('PUT', `${resold}/prices`, { prices }, { token });
    await remote.post(`${resold}/credits`, { amount: 100 }, { token });
    const till = { name: 'till', scopes: ['read', 'write'] };
    const sold = (await remote.post<Secrets>(`${resold}/tokens`, till, { token })).body.token!;
    keep('reseller token', sold);
    handles.add('reseller token');
    keep('administrator token', ADMIN_TOKEN);
    for (const [name, credentials] of Object.entries({
      developer: { email, password },
      reseller: { token: sold },
      administrator: { token: ADMIN_TOKEN },
    })) {
      const { headers } = await newBrowserSession(remote, credentials);
      keep(`cookie of the ${name}`, headers['cookie']!.split('=')[1]!);
      handles.add(`cookie of the ${name}`);
    }
    const order = { app_id, tier: 'Pro', duration_days: 30, amount: 1 };
    const bought = await remote.post('/api/v2/dev/reseller/licenses', order, { token: sold });
    keep('key of a reseller', /"license_key":"([^"]+)"/.exec(JSON.stringify(bought.body))![1]!);
    const spt = keep('payment token', `spt_test_${randomBytes(16).toString('hex')}`);
    const paid = await access(remote, credential(await newChallenge(remote), { spt }));
    keep("agent's token", paid.body.access_token);
    handles.add('payment token').add("agent's token");
    const mailbox = () => readMails(join(dataDir, 'mail'));
    keep('token of a mailed reset', await newResetToken({ api: remote, mailbox }, email));
    handles.add('token of a mailed reset');
    const motd = { value: 'Hello', visibility: 'public' };
    await remote.call('PUT', `${own}/variables/motd`, motd, { token });
    await remote.call('PUT', `${own}/files/setup.bin?version=1`, Buffer.from('bytes'), {
      token,
      headers: { 'content-type': 'application/octet-stream' },
    });
    await payForEverything(remote, token, keep);
    await authorizeClientAndAgents(remote, developer, { provider, dataDir, keep });
    for (const each of AGENT_HANDLES) handles.add(each);
    const other = await payWithStripe(environment, token, keep);
    for (const each of ['agent token', 'payment token ', 'payment token declined', 'payment token at Stripe'])
      handles.add(each);
    const rotated = await remote.post<Secrets>(`${own}/rotate-secret`, {}, { token });
    keep('rotated secret', rotated.body.secret!);
    await remote.call('GET', own, undefined, { token });
    await remote.call('GET', `${own}/licenses`, undefined, { token });
    await remote.call('GET', `${own}?secret=${secret}`, undefined, { token });
    // Malformed requests with secrets in every part.
    await remote.post('/api/v1/client/login', `{"secret":"${secret}","password":"${user.password}`);
    await remote.post('/api/v1/client/login', { ...app, ...user, username: '\u0000' });
    await remote.init({ app_id: `${app_id}\u0000`, secret });
    await sendRaw(remote.baseUrl, `GET /${secret} HTTP/1.1\r\nX: ${user.password}\0\r\n\r\n`);
    // Two internal errors: a missing table and a violated constraint.
    const client = await connectTo(databaseUrl);
    await client.query('alter table subscriptions rename to hidden');
    const failed = await remote.verify({ app_id, token: login.body.token, hwid: user.hwid });
    expect(failed.status).toBe(500);
    const activated = await remote.activate({ ...app, username: user.username, license_key: second! });
    expect(activated.status).toBeGreaterThanOrEqual(400);
    await client.query('alter table hidden rename to subscriptions');
    await client.query('alter table users add constraint broken check (username <> $$broken$$)');
    const broken = { ...app, ...user, username: 'broken' };
    expect((await remote.register(broken)).status).toBe(500);
    await remote.logout({ app_id, token: login.body.session_id });

    for (const each of [process_, other]) await each.end('SIGTERM');
    const mailing = await sendRefusedMail(environment, email, keep);
    handles.add('token of a refused mail');

    const rows: string[] = [];
    for (const [table, all] of Object.entries(await dump(databaseUrl))) {
      // Session ids are stored only with an external broker, test events only until they are processed, and changes of
      // counts only until they are folded.
      if (!['session_ids', 'test_notices', 'license_count_changes', 'session_count_changes'].includes(table))
        expect(all.length, `${table} is empty`).toBeGreaterThan(0);
      for (const row of all) {
        for (const value of Object.values(row)) {
          if (Buffer.isBuffer(value)) rows.push(value.toString('hex'), value.toString('latin1'));
          else rows.push(JSON.stringify(value));
        }
      }
    }
    await mailing.end('SIGTERM');
    const outputs = [process_, other, mailing].map((each) => each.output());
    const [log, terminal] = [outputs.map(({ stderr }) => stderr), outputs.map(({ stdout }) => stdout)];
    const places = { database: rows.join('\n'), log: log.join('\n'), terminal: terminal.join('\n') };
    const faults: string[] = [];
    for (const [name, value] of secrets) {
      for (const [form, text] of forms(value)) {
        // The database stores digests of tokens, to find their rows.
        const digest = form === 'sha256' && handles.has(name);
        for (const [place, content] of Object.entries(places)) {
          if (digest && place === 'database') continue;
          // The developer can fetch these URLs again while they are valid.
          if (/^(payment page|page of)/.test(name) && place === 'database') continue;
          if (content.includes(text)) faults.push(`${name} (${form}) is in the ${place}`);
        }
      }
    }
    expect(faults).toEqual([]);
    expect(places.log, 'both failures are logged').toMatch(/INTERNAL_ERROR/);
    // At this level, the lines of requests contain usernames. Failures must not.
    const failures = places.log.split('\n').filter((line) => line.includes('"level":50'));
    expect(failures.join('\n')).not.toContain(user.username);
  });
});

describe('pages', () => {
  const pages = [
    '/',
    '/errors',
    ...Object.keys(catalog).map((code) => `/errors/${code.toLowerCase().replaceAll('_', '-')}`),
  ];

  test.each(pages)('%s has a strict policy and no scripts', async (path) => {
    const response = await fetch(`${service.baseUrl}${path}`);
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.get('x-powered-by')).toBeNull();
    expect(response.headers.get('set-cookie')).toBeNull();
    const policy = response.headers.get('content-security-policy')!;
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).toMatch(/frame-ancestors 'none'/);
    expect(policy).toMatch(/base-uri 'none'/);
    expect(policy).toMatch(/form-action 'none'/);
    expect(policy).not.toMatch(/script-src|\*|unsafe-eval/);
    expect(text).not.toMatch(/<script|javascript:|\son\w+=|<iframe|<form/i);
  });

  test('no page reflects parts of the request', async () => {
    const mark = '<script>mark()</script>';
    const encoded = encodeURIComponent(mark);
    const targets = [
      `/${mark}`, `/errors/${mark}`, `/?${mark}`, `/errors?${mark}`, `/errors/not-found?${mark}`, `/${encoded}`,
      `/errors/${encoded}`, `/errors/not-found/${encoded}`, `http://${mark}`, `http://[${mark}`, `x:${mark}`,
      `//${mark}`, `/errors/%ZZ${mark}`, `/openapi.json?${mark}`, `/health/${mark}`, `/health?${mark}`,
    ]; // prettier-ignore
    for (const target of targets) {
      const headers = `Host: ${mark}\r\nX-Forwarded-Host: ${mark}\r\nReferer: ${mark}\r\nUser-Agent: ${mark}\r\n`;
      for (const accept of ['text/html', 'application/json', '*/*']) {
        const bytes = `GET ${target} HTTP/1.1\r\n${headers}Accept: ${accept}\r\n\r\n`;
        const { responses } = await sendRaw(service.baseUrl, bytes);
        const [response] = responses;
        expect(response, target).toBeDefined();
        const type = response!.headers.get('content-type') ?? '';
        // Requests that the parser refuses are covered below.
        if (response!.headers.get('connection') !== 'close')
          expect(
            response!.headers.get('x-content-type-options'),
            `${response!.status} ${type} ${target}`,
          ).toBe('nosniff');
        if (type.startsWith('text/html')) {
          expect(response!.text).not.toMatch(/mark\(\)/);
          expect(response!.status, `only our own pages are HTML: ${target}`).toBe(200);
        } else expect(type).toMatch(/^application\/(problem\+)?json/);
      }
    }
  });

  test('refusals of the HTTP parser have nosniff and no-store, too', async () => {
    for (const bytes of ['GARBAGE\r\n\r\n', `GET / HTTP/1.1\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`]) {
      const [response] = (await sendRaw(service.baseUrl, bytes)).responses;
      expectContract({ method: 'GET', path: '/no-operation', ...response! });
      expect(response!.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response!.headers.get('cache-control')).toBe('no-store');
    }
  });

  test('responses with secrets have no-store, no CORS headers and no cookies', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    const listed = await api.call('GET', `/api/v2/dev/apps/${app.app_id}/licenses`, undefined, app);
    const verified = await api.verify({ app_id: app.app_id, token: session.token });
    for (const { headers } of [listed, verified]) {
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('access-control-allow-origin')).toBeNull();
      expect(headers.get('set-cookie')).toBeNull();
    }
  });
});

test('no transaction is left open', async () => {
  expect((await api.call('GET', '/health')).status).toBe(200);
  const client = new pg.Client({ connectionString: service.databaseUrl });
  await client.connect();
  // Background work may be between two statements. A leaked transaction stays open for ten seconds.
  await expect
    .poll(
      async () => {
        const { rows } = await client.query<{ state: string }>(
          "select state from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'",
        );
        return rows;
      },
      { timeout: 5_000 },
    )
    .toEqual([]);
  await client.end();
});
