import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import contract from '../../../generated/openapi.json' with { type: 'json' };
import { sign } from '../../concurrency/signed.ts';
import {
  newApp,
  newDeveloper,
  newHwid,
  newNonce,
  newSession,
  newUser,
  unique,
} from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import {
  hasRefusedText,
  hostileJson,
  NAUGHTY_DATES,
  NAUGHTY_STRINGS,
  SEED,
  toJson,
} from '../support/hostile.ts';
import { nameFormats } from '../../../tools/generate/name-characters.ts';

const { api, clock } = await startTestService();
const developer = await newDeveloper(api);
const app = await newApp(api, developer);
const session = await newSession(api, app);
const [licenseKey] = await app.keys(1);
// A separate application, because bans would refuse the requests of the other tests.
const bansOf = await newApp(api, developer);
const banned = await newUser(api, bansOf);
const sandbox = { app_id: 'sandbox', username: 'agent', hwid: newHwid() };
const sandboxSession = await api.post<{ token: string }>('/api/v1/sandbox/auth', sandbox);
const apps = '/api/v2/dev/apps';
const own = `${apps}/${app.app_id}`;

interface Target {
  readonly method: string;
  readonly path: string;
  readonly schema: string;
  /** Valid members as JSON text, created for each request. */
  readonly members: () => Record<string, string>;
  readonly token?: string;
  /** Whether requests are signed with the application's secret. */
  readonly signed?: boolean;
  readonly runs: number;
}

const json = (members: object) =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]));

/** Every operation that takes a body, with a valid body. */
const targets: Target[] = [
  {
    method: 'POST',
    path: '/api/v1/client/init',
    schema: 'InitApplicationRequest',
    members: () => json(app.with({ version: '1.2.3', executable_hash: 'ab'.repeat(32) })),
    runs: 24,
  },
  {
    method: 'POST',
    path: '/api/v1/client/register',
    schema: 'RegisterUserRequest',
    members: () =>
      json(
        app.with({
          username: unique('u'),
          password: 'a user password',
          hwid: newHwid(),
          email: 'ada@example.com',
          license_key: licenseKey!,
        }),
      ),
    runs: 18,
  },
  {
    method: 'POST',
    path: '/api/v1/client/login',
    schema: 'LoginUserRequest',
    members: () => json(app.with(session.owner)),
    runs: 14,
  },
  {
    method: 'POST',
    path: '/api/v1/client/verify-session',
    schema: 'VerifySessionRequest',
    members: () => json({ app_id: app.app_id, token: session.token, hwid: session.owner.hwid }),
    runs: 24,
  },
  {
    method: 'POST',
    path: '/api/v1/client/activate',
    schema: 'ActivateLicenseRequest',
    members: () => json(app.with({ username: session.owner.username, license_key: 'AAAAA' })),
    runs: 24,
  },
  {
    method: 'POST',
    path: '/api/v1/client/logout',
    schema: 'LogoutUserRequest',
    members: () => json({ app_id: app.app_id, token: 'x'.repeat(22) }),
    runs: 20,
  },
  {
    method: 'POST',
    path: '/api/v2/client/login',
    schema: 'LoginUserV2Request',
    members: () => json({ app_id: app.app_id, ...session.owner, nonce: newNonce() }),
    signed: true,
    runs: 14,
  },
  {
    method: 'POST',
    path: '/api/v2/client/login-license',
    schema: 'LoginWithLicenseRequest',
    members: () => json({ app_id: app.app_id, license_key: licenseKey!, hwid: newHwid(), nonce: newNonce() }),
    signed: true,
    runs: 24,
  },
  {
    method: 'POST',
    path: '/api/v2/client/login-license',
    schema: 'LoginWithLicenseRequest',
    members: () => json({ app_id: app.app_id, license_key: licenseKey!, hwid: newHwid() }),
    runs: 12,
  },
  {
    method: 'POST',
    path: '/api/v2/client/verify-session',
    schema: 'VerifySessionV2Request',
    members: () =>
      json({ app_id: app.app_id, token: session.token, hwid: session.owner.hwid, nonce: newNonce() }),
    signed: true,
    runs: 24,
  },
  {
    method: 'POST',
    path: '/api/v2/client/verify-session',
    schema: 'VerifySessionV2Request',
    members: () => json({ app_id: app.app_id, token: session.token, nonce: newNonce() }),
    runs: 12,
  },
  {
    method: 'POST',
    path: '/api/v2/client/logout',
    schema: 'LogoutUserV2Request',
    members: () => json({ app_id: app.app_id, session_token: 'x'.repeat(22), nonce: newNonce() }),
    signed: true,
    runs: 20,
  },
  {
    method: 'POST',
    path: '/api/v2/client/logout',
    schema: 'LogoutUserV2Request',
    members: () => json({ app_id: app.app_id, token: 'x'.repeat(22) }),
    runs: 12,
  },
  {
    method: 'POST',
    path: '/api/v1/sandbox/auth',
    schema: 'AuthenticateSandboxRequest',
    members: () => json({ app_id: 'sandbox', username: 'agent', hwid: newHwid() }),
    runs: 24,
  },
  {
    method: 'POST',
    path: '/api/v1/sandbox/verify-session',
    schema: 'VerifySessionRequest',
    members: () => json({ app_id: sandbox.app_id, token: sandboxSession.body.token, hwid: sandbox.hwid }),
    runs: 24,
  },
  {
    method: 'POST',
    path: `${apps}/${bansOf.app_id}/bans`,
    schema: 'CreateBanRequest',
    members: () => json({ kind: 'user', username: banned.username, reason: 'r', expires_at: null }),
    token: developer.token,
    runs: 20,
  },
  {
    method: 'POST',
    path: `${apps}/${bansOf.app_id}/bans`,
    schema: 'CreateBanRequest',
    members: () => json({ kind: 'hardware', hwid: newHwid(), expires_at: '2030-01-01T00:00:00.000Z' }),
    token: developer.token,
    runs: 20,
  },
  {
    method: 'POST',
    path: `${apps}/${bansOf.app_id}/bans`,
    schema: 'CreateBanRequest',
    members: () => json({ kind: 'network', network: '2001:db8::/32', reason: null }),
    token: developer.token,
    runs: 20,
  },
  {
    method: 'POST',
    path: '/api/v2/dev/register',
    schema: 'RegisterDeveloperRequest',
    members: () =>
      json({ email: `${unique('d')}@example.com`, password: 'a developer password', name: 'Grace' }),
    runs: 12,
  },
  {
    method: 'POST',
    path: '/api/v2/dev/login',
    schema: 'LoginDeveloperRequest',
    members: () => json({ email: developer.email, password: developer.password }),
    runs: 12,
  },
  {
    method: 'POST',
    path: apps,
    schema: 'CreateApplicationRequest',
    members: () => json({ name: unique('App') }),
    token: developer.token,
    runs: 20,
  },
  {
    method: 'PATCH',
    path: own,
    schema: 'UpdateApplicationRequest',
    members: () =>
      json({
        name: 'Aurora',
        hwid_lock: true,
        integrity_check: false,
        executable_hashes: [],
        pause_sessions: false,
        require_subscription: false,
        require_signatures: false,
        bind_responses: true,
        secretless_clients: true,
        require_client_trust: false,
        block_vpn: false,
        vpn_fail_closed: false,
        minimum_version: '1.0.0',
        download_url: 'https://example.com/',
        max_sessions: 5,
        tiers: ['Standard', 'Pro', 'VIP'],
      }),
    token: developer.token,
    runs: 40,
  },
  {
    method: 'POST',
    path: `${own}/licenses`,
    schema: 'CreateLicensesRequest',
    members: () => json({ amount: 1, duration_days: 30, tier: 'Standard', redeem_by: null, note: 'n' }),
    token: developer.token,
    runs: 32,
  },
];

const ajv = new Ajv({ strict: false, schemas: { contract: { $id: 'contract', ...contract } } });
(addFormats as unknown as (ajv: Ajv) => void)(ajv);
for (const [name, format] of Object.entries(nameFormats)) ajv.addFormat(name, format);

/** Whether a body is valid by the contract, without coercion. */
function isValid(schema: string, body: unknown): boolean {
  const validate = ajv.getSchema(`contract#/components/schemas/${schema}`)!;
  return validate(body) as boolean;
}

type Mutation =
  | { readonly kind: 'drop'; readonly at: number }
  | { readonly kind: 'set'; readonly at: number; readonly value: string }
  | { readonly kind: 'add'; readonly name: string; readonly value: string };

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constant('drop' as const), at: fc.nat() }),
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('set' as const), at: fc.nat(), value: hostileJson }),
  },
  fc.record({
    kind: fc.constant('add' as const),
    name: fc.constantFrom(...NAUGHTY_STRINGS, 'role', 'users', 'requestBody', 'path', 'query'),
    value: hostileJson,
  }),
);

/** Mostly keeps the credentials, to reach the code behind them. */
function mutate(members: Record<string, string>, mutations: readonly Mutation[]): string {
  const names = Object.keys(members).filter((name) => !['app_id', 'secret'].includes(name));
  const all = names.length > 0 ? names : Object.keys(members);
  const result = new Map(Object.entries(members));
  for (const each of mutations) {
    if (each.kind === 'add') {
      if (!result.has(each.name)) result.set(each.name, each.value);
      continue;
    }
    const name = all[each.at % all.length]!;
    if (each.kind === 'drop') result.delete(name);
    else result.set(name, each.value);
  }
  return `{${[...result].map(([name, value]) => `${toJson(name)}:${value}`).join(',')}}`;
}

function headersOf({ signed }: Target, body: string): Record<string, string> {
  return signed ? sign(app, body, clock.now().getTime()).headers : {};
}

async function send(
  target: Target,
  body: string,
  headers: Record<string, string> = headersOf(target, body),
): Promise<void> {
  const started = performance.now();
  const { token, path } = target;
  const { status, body: response } = await api.call(target.method, path, body, { token, headers });
  expect(performance.now() - started, 'responds within seconds').toBeLessThan(5_000);
  expect(status, JSON.stringify(response)).toBeLessThan(500);
  const parsed = JSON.parse(body) as Record<string, unknown>;
  if (hasRefusedText(parsed)) expect(status, 'a value that cannot be stored exactly').toBe(400);
  // Until the signature is verified, the response mentions nothing else.
  else if (response['code'] === 'INVALID_APP_CREDENTIALS' && target.signed)
    expect(parsed['app_id']).not.toBe(app.app_id);
  else if (!isValid(target.schema, parsed)) expect(response['code']).toBe('VALIDATION_FAILED');
}

describe.each(targets)('$method $path $schema, signed: $signed', (target) => {
  test('generated and mutated bodies: never a 5xx, and 400 for what the contract forbids', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), async (mutations) => {
        await send(target, mutate(target.members(), mutations));
      }),
      { seed: SEED, numRuns: target.runs, endOnFailure: true },
    );
  });

  test('every naughty string in every member', async () => {
    for (const name of Object.keys(target.members())) {
      const texts = ['redeem_by', 'expires_at'].includes(name) ? NAUGHTY_DATES : NAUGHTY_STRINGS;
      // Operations that hash a password get every third string in the members that are checked after the hash.
      const slow =
        /register$|login$/.test(target.path) && ['password', 'name', 'hwid', 'username'].includes(name);
      for (const [index, text] of texts.entries()) {
        if (slow && index % 3 > 0) continue;
        await send(target, mutate({ ...target.members(), [name]: toJson(text) }, []));
      }
    }
  });

  test('bodies that are not objects', async () => {
    for (const body of ['null', 'true', '0', '""', '[]', '[{}]', '{}', `[${mutate(target.members(), [])}]`]) {
      const { status, body: response } = await api.call(target.method, target.path, body, {
        token: target.token,
        headers: headersOf(target, body),
      });
      // The signature is checked only if the body names an application.
      expect({ status, code: response['code'] }, body).toEqual({ status: 400, code: 'VALIDATION_FAILED' });
    }
  });
});

describe('paths and queries of operations', () => {
  const token = developer.token;

  test.each([
    'limit=',
    'limit=0x10',
    'limit=0b11',
    'limit=0o17',
    'limit=1e1',
    'limit=1E1',
    'limit=%207',
    'limit=7%20',
    'limit=%0a7',
    'limit=7.0',
    'limit=%2B7',
    'limit=07',
    'limit=-1',
    'limit=0',
    'limit=101',
    'limit=1.5',
    'limit=NaN',
    'limit=Infinity',
    'limit=9223372036854775808',
    'limit=1e400',
    'limit=true',
    'limit=null',
    'limit=%D9%A1',
    'limit=5&limit=5',
    'limit[]=5',
    'limit%5B%5D=5',
    'cursor=',
    'cursor=!',
    'cursor=%00',
    'cursor=%FF%FE',
    'cursor=%ED%A0%80',
    'cursor=bGlj',
    `cursor=${Buffer.from(`lic_${'0'.repeat(25)}`).toString('base64url')}`,
    `cursor=${Buffer.from(`lic_${'A'.repeat(26)}`).toString('base64url')}`,
    `cursor=${Buffer.from(`usr_${'0'.repeat(26)}`).toString('base64url')}`,
    `cursor=${Buffer.from(`lic_${'0'.repeat(26)}\n`).toString('base64url')}`,
    `cursor=${Buffer.from("lic_' or 1=1 --").toString('base64url')}`,
    `cursor=${'A'.repeat(257)}`,
    'cursor=a&cursor=b',
    'Limit=5',
    'page=2',
    '__proto__=1',
    'constructor=1',
    'toString=1',
    '&&&=',
    '=',
    '%',
    '%ZZ=1',
  ])('a list refuses ?%s with 400', async (query) => {
    for (const path of [apps, `${own}/licenses`, `${own}/bans`]) {
      const { status, body } = await api.call('GET', `${path}?${query}`, undefined, { token });
      expect({ status, code: body['code'] }).toEqual({ status: 400, code: 'VALIDATION_FAILED' });
    }
  });

  test.each(['limit=Infinity', 'limit=1e400', 'limit=1e999'])(
    '?%s does not undo the limit',
    async (query) => {
      await app.keys(120);
      const path = `${own}/licenses?${query}`;
      const { status, body } = await api.call<{ data?: unknown[] }>('GET', path, undefined, { token });
      expect({ status, items: body.data?.length ?? 0 }).toEqual({ status: 400, items: 0 });
    },
  );

  test('a cursor is accepted only in its original spelling', async () => {
    await app.keys(2);
    const page = `${own}/licenses?limit=1`;
    const { body } = await api.call<{ next_cursor: string }>('GET', page, undefined, { token });
    const cursor = body.next_cursor;
    const variants = [`${cursor}=`, `${cursor}!`, `*${cursor}`, `${cursor.slice(0, 4)} ${cursor.slice(4)}`];
    for (const variant of variants) {
      const path = `${page}&cursor=${encodeURIComponent(variant)}`;
      expect((await api.call('GET', path, undefined, { token })).status, variant).toBe(400);
    }
  });

  test.each([
    '%00',
    'a%00b',
    '%FF',
    '%C0%AF',
    '%ED%A0%80',
    '%',
    '%ZZ',
    '%E0%A4%A',
    '..%2F..',
    "'%20or%201=1--",
    '__proto__',
    'constructor',
    'x'.repeat(65),
    'x'.repeat(5_000),
    '%F0%9F%92%A3',
    ';a=b',
    '%EF%BC%8F',
    '*',
    '~',
  ])('an application named %s is refused, never a failure', async (name) => {
    for (const [method, path, body] of [
      ['GET', `${apps}/${name}`],
      ['PATCH', `${apps}/${name}`, { name: 'x' }],
      ['DELETE', `${apps}/${name}`],
      ['GET', `${apps}/${name}/licenses`],
      ['POST', `${apps}/${name}/licenses`, { amount: 1, duration_days: 1, tier: 'Pro' }],
      ['GET', `${apps}/${name}/bans`],
      ['POST', `${apps}/${name}/bans`, { kind: 'network', network: '203.0.113.0/24' }],
      ['DELETE', `${apps}/${name}/bans/${name}`],
      ['DELETE', `${own}/bans/${name}`],
    ] as const) {
      const { status } = await api.call(method, path, body, { token });
      expect([400, 404], `${method} ${path}`).toContain(status);
    }
  });

  test('an altered application id does not name the application', async () => {
    const names = [
      `${app.app_id}%20`,
      `%20${app.app_id}`,
      `${app.app_id}%00`,
      `${app.app_id}%0A`,
      app.app_id.toUpperCase(),
      `${app.app_id};x`,
      `${app.app_id}%3Fx`,
    ];
    for (const name of names) {
      const { status } = await api.call('GET', `${apps}/${name}`, undefined, { token });
      expect([400, 404], name).toContain(status);
    }
  });
});

test.each([
  { what: 'licenses', member: 'redeem_by', body: { amount: 1, duration_days: 1, tier: 'Pro' } },
  { what: 'bans', member: 'expires_at', body: { kind: 'network', network: '203.0.113.0/24' } },
])(
  '$member of $what: an accepted date is returned as the same moment and does not break the list',
  async ({ what, member, body }) => {
    const other = await newApp(api);
    const path = `${apps}/${other.app_id}/${what}`;
    const faults: string[] = [];
    for (const text of NAUGHTY_DATES) {
      const created = await api.post(path, { ...body, [member]: text }, other).catch((error: Error) => error);
      if (created instanceof Error) {
        faults.push(`${text}: ${created.message}`);
        continue;
      }
      if (created.status === 400) continue;
      if (created.status !== 201) faults.push(`${text}: ${created.status}`);
      const listed = await api
        .call<{ data: Record<string, string>[] }>('GET', `${path}?limit=1`, undefined, other)
        .catch((error: Error) => error);
      const [first] = listed instanceof Error ? [] : (listed.body.data ?? []);
      if (listed instanceof Error) faults.push(`${text} breaks the list: ${listed.message.slice(0, 400)}`);
      else if (listed.status !== 200)
        faults.push(`${text} changes the status of the list to ${listed.status}`);
      else if (Date.parse(first![member]!) !== Date.parse(text.replace(/(\.\d{3})\d+/, '$1')))
        faults.push(`${text} came back as ${first![member]}`);
    }
    expect(faults).toEqual([]);
  },
);

describe('x-signature and x-timestamp', () => {
  const signedTargets = targets.filter(({ path }) => path.startsWith('/api/v2/client/'));
  const DIGITS = ['0', '-0', '-1', '1e3', '0x1', ' 1', '1.5', '99999999999999999999', 'NaN', 'null', '١'];
  /** Whether HTTP permits the text in a header. */
  const sendable = (text: string) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
  const header = fc.oneof(
    fc.constantFrom(...NAUGHTY_STRINGS, ...DIGITS).filter(sendable),
    fc.string({ unit: 'binary-ascii', maxLength: 80 }).filter(sendable),
    fc.stringMatching(/^[0-9A-Fa-f]{0,130}$/),
    fc.nat(400_000).map((off) => String(clock.now().getTime() + off - 200_000)),
    fc.integer().map(String),
  );
  const headers = fc.record({ 'x-signature': header, 'x-timestamp': header }, { requiredKeys: [] });

  test.each(signedTargets)(
    'of any kind at $path, signed: $signed: never a 5xx, and no success',

    async (target) => {
      await fc.assert(
        fc.asyncProperty(headers, fc.array(mutation, { maxLength: 2 }), async (sent, mutations) => {
          const body = mutate(target.members(), mutations);
          const { status, body: response } = await api.call(target.method, target.path, body, {
            headers: sent,
          });
          expect(status, JSON.stringify(response)).toBeLessThan(500);
          // Without the headers, only the operations on which they are optional accept the request.
          const none = Object.keys(sent).length === 0;
          if (!none || target.path.endsWith('/login')) expect(status).toBeGreaterThanOrEqual(400);
        }),
        { seed: SEED, numRuns: 60, endOnFailure: true },
      );
    },
  );
});
