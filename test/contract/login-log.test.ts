import { signIn } from '../support/browser-session.ts';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { limitPlan } from '../operations/support/plans.ts';
import { newGuest, type Guest } from '../operations/support/entry-points.ts';
import type { ApiResponse } from '../support/api.ts';
import { DAY } from '../support/clock.ts';
import { collectLog } from '../support/collected-log.ts';
import { connectTo } from '../support/database.ts';
import {
  ban,
  newApp,
  newDeveloper,
  newHwid,
  newNonce,
  signed,
  unique,
  type App,
  type Developer,
} from '../support/fixtures.ts';
import { beginAuthorization, Browser, newClient } from '../support/oauth.ts';
import { temporaryFolder } from '../support/processes.ts';
import { startTestService } from '../support/service.ts';
import { newTrustedClient, trustedHeaders } from '../support/trusted-client.ts';
import { operations } from './operations.ts';

/** The failures in a minute before attempts are rate limited. */
const FAILURES = 10;
const VPN_ADDRESS = '203.0.113.7';
const BANNED_ADDRESS = '198.51.100.7';

const folder = await temporaryFolder(afterAll);
const list = join(folder, 'networks.txt');
await writeFile(list, '203.0.113.0/24\n');
afterAll(() => rm(list));

const { logger, lines: written } = collectLog('info');
const service = await startTestService({ VPN_NETWORKS: list, TRUSTED_PROXIES: '127.0.0.1' }, { logger });
const { api, baseUrl, clock, databaseUrl } = service;

type Line = Readonly<Record<string, unknown>>;

/** The log lines of refused logins from an index on, without the fields of every line. */
const refusalsSince = (start: number): Line[] =>
  written
    .slice(start)
    .map((line) => JSON.parse(line) as Line)
    .filter(({ msg }) => msg === 'login refused')
    .map(({ level, time, msg, ...fields }) => {
      expect({ level, msg }).toEqual({ level: 30, msg: 'login refused' });
      return fields;
    });

/** A new user, application and developer for each refusal. */
interface Scene {
  readonly app: App;
  readonly developer: Developer;
  readonly guest: Guest;
}

async function newScene(): Promise<Scene> {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  return { app, developer, guest: await newGuest(service, app) };
}

/** Changes of a valid login. */
interface Change {
  readonly body?: object;
  readonly headers?: Record<string, string>;
  /** Signs with this secret. */
  readonly secret?: string;
  /** Sends this text instead. */
  readonly raw?: string;
}

const LOGINS = {
  loginUser(app: App, { username, password, hwid }: Guest, { body, headers, raw }: Change = {}) {
    const request = raw ?? app.with({ username, password, hwid, ...body });
    return api.post('/api/v1/client/login', request, { headers });
  },
  loginUserV2(app: App, { username, password, hwid }: Guest, change: Change = {}) {
    const request = { app_id: app.app_id, username, password, hwid, nonce: newNonce(), ...change.body };
    return sendSigned('/api/v2/client/login', app, request, change);
  },
  loginWithLicense(app: App, { licenseKey, hwid }: Guest, change: Change = {}) {
    const nonce = newNonce();
    const request = { app_id: app.app_id, license_key: licenseKey, hwid, nonce, ...change.body };
    return sendSigned('/api/v2/client/login-license', app, request, change);
  },
};

function sendSigned(path: string, app: App, body: object, { secret = app.secret, raw, headers }: Change) {
  const [text, signature] = signed({ secret }, raw ?? body, { at: clock.now() });
  return api.post(path, text, { headers: { ...signature, ...headers } });
}

type Login = keyof typeof LOGINS;
const ALL: readonly Login[] = ['loginUser', 'loginUserV2', 'loginWithLicense'];
const SIGNED: readonly Login[] = ['loginUserV2', 'loginWithLicense'];
const WITH_PASSWORD: readonly Login[] = ['loginUser', 'loginUserV2'];

interface Refusal {
  readonly code: string;
  readonly logins: readonly Login[];
  /** Whether the log names the user: not before the application is authenticated, nor if the service is busy. */
  readonly named: boolean;
  attempt(login: Login, scene: Scene): Promise<ApiResponse>;
}

/** A login after a change of its application. */
const after = (change: (scene: Scene) => Promise<unknown>, request: Change = {}) =>
  async function attempt(login: Login, scene: Scene): Promise<ApiResponse> {
    await change(scene);
    return LOGINS[login](scene.app, scene.guest, request);
  };
const changed = (request: Change) => after(async () => {}, request);
const from = (address: string): Change => ({ headers: { 'x-forwarded-for': address } });

const REFUSALS: readonly Refusal[] = [
  {
    code: 'APPLICATION_INACTIVE',
    logins: ['loginUser'],
    named: false,
    attempt: after(({ app }) => app.patch({ status: 'disabled' })),
  },
  {
    code: 'APPLICATION_INACTIVE',
    logins: SIGNED,
    named: true,
    attempt: after(({ app }) => app.patch({ status: 'disabled' })),
  },
  {
    code: 'APPLICATION_PAUSED',
    logins: ALL,
    named: true,
    attempt: after(({ app }) => app.patch({ status: 'paused' })),
  },
  {
    code: 'VPN_BLOCKED',
    logins: ALL,
    named: true,
    attempt: after(({ app }) => app.patch({ block_vpn: true }), from(VPN_ADDRESS)),
  },
  {
    code: 'ADDRESS_BANNED',
    logins: ALL,
    named: true,
    attempt: after(
      ({ app }) => ban(api, app, { kind: 'network', network: BANNED_ADDRESS }),
      from(BANNED_ADDRESS),
    ),
  },
  {
    code: 'HWID_BANNED',
    logins: ALL,
    named: true,
    attempt: after(({ app, guest: { hwid } }) => ban(api, app, { kind: 'hardware', hwid })),
  },
  {
    code: 'USER_BANNED',
    logins: ALL,
    named: true,
    attempt: after(({ app, guest: { username } }) => ban(api, app, { kind: 'user', username })),
  },
  { code: 'HWID_MISMATCH', logins: ALL, named: true, attempt: changed({ body: { hwid: newHwid() } }) },
  {
    code: 'SUBSCRIPTION_EXPIRED',
    logins: ALL,
    named: true,
    attempt: after(async ({ app }) => {
      await app.patch({ require_subscription: true });
      clock.advance(31 * DAY);
    }),
  },
  {
    code: 'QUOTA_EXCEEDED',
    logins: ALL,
    named: true,
    attempt: after(async ({ app, developer }) => {
      await limitPlan(databaseUrl, developer, { users: 0 });
      const database = await connectTo(databaseUrl);
      const ended = [clock.now(), app.app_id];
      await database.query('update applications set grace_ends_at = $1 where app_id = $2', ended);
    }),
  },
  {
    code: 'INVALID_CREDENTIALS',
    logins: WITH_PASSWORD,
    named: true,
    attempt: changed({ body: { password: 'a wrong password' } }),
  },
  {
    code: 'TOO_MANY_REQUESTS',
    logins: ALL,
    named: true,
    async attempt(login, { app, guest }) {
      const wrong = login === 'loginWithLicense' ? { hwid: newHwid() } : { password: 'a wrong password' };
      for (let failure = 0; failure < FAILURES; failure += 1) {
        await LOGINS[login](app, guest, { body: wrong });
      }
      written.length = 0;
      return LOGINS[login](app, guest, { body: wrong });
    },
  },
  {
    code: 'INVALID_APP_CREDENTIALS',
    logins: ALL,
    named: false,
    attempt: (login, { app, guest }) =>
      LOGINS[login](app, guest, login === 'loginUser' ? { body: { secret: 'wrong' } } : { secret: 'wrong' }),
  },
  {
    code: 'SIGNATURE_REQUIRED',
    logins: SIGNED,
    named: false,
    attempt(login, { app: { app_id }, guest }) {
      const { username, password, hwid, licenseKey: license_key } = guest;
      const nonce = newNonce();
      const headers = { 'x-timestamp': String(clock.now().getTime()) };
      return login === 'loginUserV2'
        ? api.post('/api/v2/client/login', { app_id, username, password, hwid, nonce }, { headers })
        : api.post('/api/v2/client/login-license', { app_id, license_key, hwid, nonce }, { headers });
    },
  },
  {
    code: 'SIGNATURE_VERSION_UNSUPPORTED',
    logins: SIGNED,
    named: false,
    attempt: changed({ headers: { 'x-signature-version': '9' } }),
  },
  {
    code: 'TIMESTAMP_OUT_OF_RANGE',
    logins: SIGNED,
    named: false,
    attempt: changed({ headers: { 'x-timestamp': '1' } }),
  },
  {
    code: 'NONCE_REUSED',
    logins: SIGNED,
    named: false,
    async attempt(login, { app, guest }) {
      const nonce = newNonce();
      await LOGINS[login](app, guest, { body: { nonce } });
      return LOGINS[login](app, guest, { body: { nonce } });
    },
  },
  {
    code: 'LICENSE_NOT_FOUND',
    logins: ['loginWithLicense'],
    named: false,
    attempt: changed({ body: { license_key: 'AAAAA-BBBBB-CCCCC-DDDDD' } }),
  },
  {
    code: 'LICENSE_UNUSABLE',
    logins: ['loginWithLicense'],
    named: true,
    attempt: after(async ({ app }) => {
      const database = await connectTo(databaseUrl);
      await database.query(`update licenses set status = 'paused' where app_id = $1`, [app.app_id]);
    }),
  },
  {
    code: 'CLIENT_TRUST_REQUIRED',
    logins: ALL,
    named: false,
    attempt: after(({ app }) => app.patch({ require_client_trust: true })),
  },
  {
    code: 'DEVICE_SIGNATURE_INVALID',
    logins: SIGNED,
    named: false,
    attempt: (login, { app, guest }) =>
      LOGINS[login](app, guest, {
        headers: {
          'latchkey-app': app.app_id,
          'latchkey-nonce': newNonce(),
          'latchkey-device': `dev_${'A'.repeat(43)}`,
        },
      }),
  },
  {
    code: 'DEVICE_MISMATCH',
    logins: SIGNED,
    named: false,
    async attempt(login, { app, guest }) {
      const { device } = await newTrustedClient(api, app, () => clock.now());
      const { username, password, hwid, licenseKey: license_key } = guest;
      const isLicense = login === 'loginWithLicense';
      const fields = isLicense ? { license_key } : { username, password };
      const body = { app_id: app.app_id, ...fields, hwid, nonce: newNonce() };
      const [text, signature] = signed(app, body, { at: clock.now() });
      const path = `/api/v2/client/${isLicense ? 'login-license' : 'login'}`;
      const trusted = trustedHeaders(app.app_id, { method: 'POST', path }, text, device, { at: clock.now() });
      return api.post(path, text, { headers: { ...signature, ...trusted } });
    },
  },
  { code: 'VALIDATION_FAILED', logins: ALL, named: false, attempt: changed({ body: { hwid: null } }) },
];

/** Codes of requests that do not prove from which application they come, and of malformed ones: they are no events. */
const NO_EVENT = [
  'DEVICE_SIGNATURE_INVALID',
  'INVALID_APP_CREDENTIALS',
  'SIGNATURE_REQUIRED',
  'SIGNATURE_VERSION_UNSUPPORTED',
  'VALIDATION_FAILED',
];

/** The events about an application's refused logins. */
async function refusedEvents(app: App): Promise<object[]> {
  await service.services.refusedLogins.flush();
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query<object>(
    `select user_id, audience, data from events where type = 'login.refused' and app_id = $1 order by sequence`,
    [app.app_id],
  );
  return rows;
}

/** Errors of every operation with a body, which its contract does not list. */
const COMMON = ['VALIDATION_FAILED'];

describe.each(ALL)('a refused %s writes one log line and one event', (login) => {
  const refusals = REFUSALS.filter(({ logins }) => logins.includes(login));

  test('for every code in the contract', () => {
    const { codes } = operations.find(({ operationId }) => operationId === login)!;
    expect(refusals.map(({ code }) => code).sort()).toEqual([...codes, ...COMMON].sort());
  });

  test.each(refusals)('$code', async ({ code, named, attempt }) => {
    const scene = await newScene();
    const { app, guest } = scene;
    written.length = 0;
    const { body, headers } = await attempt(login, scene);
    expect(body['code']).toBe(code);
    const lines = refusalsSince(0);
    expect(lines).toEqual([
      {
        request_id: headers.get('x-request-id'),
        operation: login,
        app_id: app.app_id,
        ...(named && { user_id: guest.userId }),
        code,
      },
    ]);
    const { username, password, hwid, licenseKey } = guest;
    for (const secret of [app.secret, username, password, hwid, licenseKey]) {
      expect(written.join('')).not.toContain(secret);
    }
    const events = await refusedEvents(app);
    const user_id = named ? guest.userId : null;
    const event = { user_id, audience: 'developer', data: { code, amount: 1 } };
    if (NO_EVENT.includes(code)) expect(events).toEqual([]);
    else expect(events.at(-1)).toEqual(event);
  });

  test('without the username if the account does not exist', async () => {
    const { app, guest } = await newScene();
    const unknown = { ...guest, username: unique('stranger'), licenseKey: 'AAAAA-BBBBB-CCCCC-DDDDE' };
    const start = written.length;
    const { body, headers } = await LOGINS[login](app, unknown);
    const code = login === 'loginWithLicense' ? 'LICENSE_NOT_FOUND' : 'INVALID_CREDENTIALS';
    expect(body['code']).toBe(code);
    const request_id = headers.get('x-request-id');
    expect(refusalsSince(start)).toEqual([{ request_id, operation: login, app_id: app.app_id, code }]);
    for (const name of [unknown.username, unknown.licenseKey]) expect(written.join('')).not.toContain(name);
    expect(await refusedEvents(app)).toMatchObject([{ user_id: null, data: { code, amount: 1 } }]);
  });

  test('without the application if its id is invalid or the body is malformed', async () => {
    const { app, guest } = await newScene();
    const app_id = unique('not-an-app');
    const start = written.length;
    const unknown = await LOGINS[login](app, guest, { body: { app_id } });
    const malformed = await LOGINS[login](app, guest, { raw: '{' });
    expect(malformed.body['code']).toBe('MALFORMED_JSON');
    expect(refusalsSince(start)).toEqual(
      [unknown, malformed].map(({ headers, body }) => ({
        request_id: headers.get('x-request-id'),
        operation: login,
        code: body['code'],
      })),
    );
    expect(written.join('')).not.toContain(app_id);
    expect(await refusedEvents(app)).toEqual([]);
    expect(await refusedEvents({ ...app, app_id })).toEqual([]);
  });

  test('but not if it succeeds', async () => {
    const { app, guest } = await newScene();
    const start = written.length;
    expect((await LOGINS[login](app, guest)).status).toBe(200);
    expect(refusalsSince(start)).toEqual([]);
    expect(await refusedEvents(app)).toEqual([]);
  });
});

describe('a refused login of a developer writes one log line', () => {
  const wrong = 'a wrong password';
  const login = (email: string, password: string) => api.post('/api/v2/dev/login', { email, password });
  const lineOf = ({ headers, body }: ApiResponse, { developerId }: Partial<Developer> = {}) => ({
    request_id: headers.get('x-request-id'),
    operation: 'loginDeveloper',
    ...(developerId !== undefined && { developer_id: developerId }),
    code: body['code'],
  });

  test('with the API', async () => {
    const developer = await newDeveloper(api);
    const stranger = `${unique('stranger')}@example.com`;
    written.length = 0;
    const responses = [await login(developer.email, wrong), await login(stranger, wrong)];
    expect(responses.map(({ body }) => body['code'])).toEqual(['INVALID_CREDENTIALS', 'INVALID_CREDENTIALS']);
    expect(refusalsSince(0)).toEqual([lineOf(responses[0]!, developer), lineOf(responses[1]!)]);
    for (let failure = 1; failure < FAILURES; failure += 1) await login(developer.email, wrong);
    const start = written.length;
    const refused = await login(developer.email, wrong);
    expect(refused.body['code']).toBe('TOO_MANY_REQUESTS');
    expect(refusalsSince(start)).toEqual([lineOf(refused, developer)]);
    for (const secret of [developer.email, stranger, wrong]) {
      expect(written.join('')).not.toContain(secret);
    }
    const { codes } = operations.find(({ operationId }) => operationId === 'loginDeveloper')!;
    expect([...codes].sort()).toEqual(['ACCOUNT_SUSPENDED', 'INVALID_CREDENTIALS', 'TOO_MANY_REQUESTS']);
  });

  test('of the dashboard', async () => {
    const { email, developerId } = await newDeveloper(api);
    written.length = 0;
    const { headers } = await signIn(api, { email, password: wrong });
    expect(refusalsSince(0)).toEqual([
      {
        request_id: headers.get('x-request-id'),
        operation: 'createBrowserSession',
        developer_id: developerId,
        code: 'INVALID_CREDENTIALS',
      },
    ]);
    for (const secret of [email, wrong]) expect(written.join('')).not.toContain(secret);
  });

  test('on the sign-in page', async () => {
    const developer = await newDeveloper(api);
    const { url } = await beginAuthorization(baseUrl, await newClient(api, developer));
    const browser = new Browser(baseUrl);
    const page = await browser.open(url);
    const stranger = `${unique('stranger')}@example.com`;
    written.length = 0;
    for (const email of [developer.email, stranger]) {
      const { status, headers } = await browser.send(page, { email, password: wrong, action: 'sign-in' });
      expect(status).toBe(401);
      const [line, ...more] = refusalsSince(0);
      expect(more).toEqual([]);
      expect(line).toEqual({
        request_id: headers.get('x-request-id'),
        ...(email === developer.email && { developer_id: developer.developerId }),
        code: 'INVALID_CREDENTIALS',
      });
      for (const secret of [email, wrong]) expect(written.join('')).not.toContain(secret);
      written.length = 0;
    }
    await browser.send(page, { email: developer.email, password: developer.password, action: 'sign-in' });
    expect(refusalsSince(0)).toEqual([]);
  });
});

test('every login in the contract is marked', () => {
  const marked = operations.filter(({ login }) => login !== undefined);
  expect(marked.map(({ operationId }) => operationId).sort()).toEqual(
    ['createBrowserSession', 'loginDeveloper', 'loginWithPassword', 'refreshSession', ...ALL].sort(),
  );
});
