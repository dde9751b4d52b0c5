import { SAME_ORIGIN } from '../support/browser-session.ts';
import { randomBytes } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { operations } from '../contract/operations.ts';
import { codeOf, newEmail, pageFor, registerEmail } from '../operations/support/agents.ts';
import { ACCESS, credential, newChallenge, SPT } from '../operations/support/machine-payments.ts';
import { newResetToken, tokensFor } from '../operations/support/passwords.ts';
import type { ApiResponse } from '../support/api.ts';
import {
  newApp,
  newDeveloper,
  newHwid,
  newNonce,
  newUser,
  signed,
  unique,
  type App,
} from '../support/fixtures.ts';
import { newClient } from '../support/oauth.ts';
import { startTestService } from '../support/service.ts';
import { newDevice, newTrustedClient, newTrustedSession, trustedHeaders } from '../support/trusted-client.ts';

/** More failures than the ten a minute before attempts are rate limited. */
const FAILURES = 12;

const service = await startTestService({ TRUSTED_PROXIES: '127.0.0.1' });
const { api, clock } = service;

/** Sends requests from one address. */
function from(address: string) {
  const forwarded = { 'x-forwarded-for': address };
  const statusOf = async (response: Promise<ApiResponse<object>>) => (await response).status;
  return {
    post: (path: string, body: object | string, headers: Record<string, string> = {}) =>
      statusOf(api.post(path, body, { headers: { ...forwarded, ...headers } })),
    get: (path: string, headers: Record<string, string>) =>
      statusOf(api.call('GET', path, undefined, { headers: { ...forwarded, ...headers } })),
    put: (path: string, body: object, token: string) =>
      statusOf(api.call('PUT', path, body, { headers: forwarded, token })),
    signed(path: string, app: App, body: object) {
      const whole = { app_id: app.app_id, ...body, nonce: newNonce() };
      return this.post(path, ...signed(app, whole, { at: clock.now() }));
    },
    async form(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
      const sent = { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' } as const;
      const response = await fetch(api.baseUrl + path, { ...sent, headers: { ...forwarded, ...headers } });
      return response.status;
    },
  };
}

type Origin = ReturnType<typeof from>;

/** An attacker's failures with a victim's name, and the victim's success right after them. */
interface Attack {
  fail(attacker: Origin): Promise<number>;
  succeed(victim: Origin): Promise<number>;
  /** The status of the success, 200 by default. */
  readonly status?: number;
}

const guess = () => `a guess ${randomBytes(4).toString('hex')}`;

async function userWithKey() {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const [license_key] = (await app.keys(1)) as [string];
  await api.activate(app.with({ username: user.username, license_key }));
  return { app, user, license_key };
}

/** A program on a device with a user, whose requests an origin sends. */
async function userWithDevice() {
  const app = await newApp(api);
  const client = await newTrustedClient(api, app, () => clock.now());
  const { user, session_id } = await newTrustedSession(client);
  const send = (origin: Origin, path: string, fields: object, device = client.device) => {
    const body = JSON.stringify({ app_id: app.app_id, ...fields });
    const request = { method: 'POST', path: `/api/v2/client/${path}` };
    const headers = trustedHeaders(app.app_id, request, body, device, { at: clock.now() });
    return origin.post(request.path, body, headers);
  };
  return { app, user, session_id, send, device: client.device };
}

/** By operation or page, for each that takes a secret. */
const attacks: Record<string, () => Promise<Attack>> = {
  async loginUser() {
    const { app, user } = await userWithKey();
    const stranger = () => app.with({ ...user, password: guess(), hwid: newHwid() });
    return {
      fail: (attacker) => attacker.post('/api/v1/client/login', stranger()),
      succeed: (victim) => victim.post('/api/v1/client/login', app.with(user)),
    };
  },
  async loginUserV2() {
    const { app, user } = await userWithKey();
    const stranger = () => ({ ...user, password: guess(), hwid: newHwid() });
    return {
      fail: (attacker) => attacker.signed('/api/v2/client/login', app, stranger()),
      succeed: (victim) => victim.signed('/api/v2/client/login', app, user),
    };
  },
  async loginWithLicense() {
    const { app, user, license_key } = await userWithKey();
    const body = (hwid: string) => ({ app_id: app.app_id, license_key, hwid });
    return {
      fail: (attacker) => attacker.post('/api/v2/client/login-license', body(newHwid())),
      succeed: (victim) => victim.post('/api/v2/client/login-license', body(user.hwid)),
    };
  },
  async 'loginWithLicense of a user without a password'() {
    const app = await newApp(api);
    const [license_key] = await app.keys(1);
    const hwid = newHwid();
    const body = (machine: string) => ({ app_id: app.app_id, license_key, hwid: machine });
    await api.post('/api/v2/client/login-license', body(hwid));
    return {
      fail: (attacker) => attacker.post('/api/v2/client/login-license', body(newHwid())),
      succeed: (victim) => victim.post('/api/v2/client/login-license', body(hwid)),
    };
  },
  async loginWithPassword() {
    const { app, user, send } = await userWithDevice();
    const { device } = await newTrustedClient(api, app, () => clock.now());
    const stranger = () => ({ ...user, password: guess(), hwid: device.hwid });
    return {
      fail: (attacker) => send(attacker, 'login-password', stranger(), device),
      succeed: (victim) => send(victim, 'login-password', user),
    };
  },
  async registerUserV2() {
    const { user, send } = await userWithDevice();
    return {
      fail: (attacker) => send(attacker, 'register', user),
      succeed: (victim) => send(victim, 'register', { ...user, username: unique('user') }),
      status: 201,
    };
  },
  async activateLicenseV2() {
    const { app, user, send } = await userWithDevice();
    const { username } = user;
    const [license_key] = await app.keys(1);
    return {
      fail: (attacker) => send(attacker, 'activate', { username, license_key: guess() }),
      succeed: (victim) => send(victim, 'activate', { username, license_key }),
    };
  },
  async refreshSession() {
    const { session_id, send } = await userWithDevice();
    return {
      fail: (attacker) => send(attacker, 'refresh', { token: newHwid() }),
      succeed: (victim) => send(victim, 'refresh', { token: session_id }),
    };
  },
  async registerDevice() {
    const { device, send } = await userWithDevice();
    const { hwid, alg, jwk } = device;
    return {
      fail: (attacker) => send(attacker, 'devices', { hwid, alg, jwk }, newDevice()),
      succeed: (victim) => send(victim, 'devices', { hwid, alg, jwk }),
      status: 201,
    };
  },
  async resetHwid() {
    const { app, user } = await userWithKey();
    const { username } = user;
    const body = (password: string) => app.with({ username, password });
    return {
      fail: (attacker) => attacker.post('/api/v2/client/reset-hwid', body(guess())),
      succeed: (victim) => victim.post('/api/v2/client/reset-hwid', body(user.password)),
    };
  },
  async registerUser() {
    const { app, user } = await userWithKey();
    const newcomer = { ...user, username: unique('user') };
    return {
      fail: (attacker) => attacker.post('/api/v1/client/register', app.with(user)),
      succeed: (victim) => victim.post('/api/v1/client/register', app.with(newcomer)),
      status: 201,
    };
  },
  async activateLicense() {
    const { app, user } = await userWithKey();
    const { username } = user;
    const [license_key] = await app.keys(1);
    const wrong = () => app.with({ username, license_key: guess() });
    return {
      fail: (attacker) => attacker.post('/api/v1/client/activate', wrong()),
      succeed: (victim) => victim.post('/api/v1/client/activate', app.with({ username, license_key })),
    };
  },
  async authenticateSandbox() {
    const body = { app_id: 'app', username: unique('agent'), hwid: newHwid() };
    return {
      fail: (attacker) => attacker.post('/api/v1/sandbox/auth', { ...body, username: '' }),
      succeed: (victim) => victim.post('/api/v1/sandbox/auth', body),
    };
  },
  async verifySandboxSession() {
    const body = { app_id: 'app', username: unique('agent'), hwid: newHwid() };
    const { token } = (await api.sandbox(body)).body as { token: string };
    return {
      fail: (attacker) => attacker.post('/api/v1/sandbox/verify-session', { app_id: 'app', token: guess() }),
      succeed: (victim) => victim.post('/api/v1/sandbox/verify-session', { app_id: 'app', token }),
    };
  },
  async registerAgent() {
    const assertion = { type: 'identity_assertion', assertion: 'x', assertion_type: 'verified_email' };
    return {
      fail: (attacker) => attacker.post('/api/v1/agent/register', assertion),
      succeed: (victim) => victim.post('/api/v1/agent/register', { ...assertion, assertion: newEmail() }),
    };
  },
  async claimAgent() {
    const email = newEmail();
    const { claim_token } = (await registerEmail(api, email)).body;
    const otp = await codeOf(api, await pageFor(service, email));
    const path = '/api/v1/agent/claim';
    return {
      fail: (attacker) => attacker.post(path, { claim_token: guess(), otp }),
      succeed: (victim) => victim.post(path, { claim_token, otp }),
    };
  },
  async revokeAgent() {
    const { body } = await api.post<{ credential: string }>('/api/v1/agent/register', { type: 'anonymous' });
    return {
      fail: (attacker) => attacker.post('/api/v1/agent/revoke', { credential: 7 }),
      succeed: (victim) => victim.post('/api/v1/agent/revoke', { credential: body.credential }),
    };
  },
  async registerDeveloper() {
    const { email } = await newDeveloper(api);
    const account = (address: string) => ({ email: address, password: 'a developer password' });
    return {
      fail: (attacker) => attacker.post('/api/v2/dev/register', account(email)),
      succeed: (victim) => victim.post('/api/v2/dev/register', account(newEmail())),
      status: 201,
    };
  },
  async loginDeveloper() {
    const { email, password } = await newDeveloper(api);
    return {
      fail: (attacker) => attacker.post('/api/v2/dev/login', { email, password: guess() }),
      succeed: (victim) => victim.post('/api/v2/dev/login', { email, password }),
    };
  },
  async createBrowserSession() {
    const { email, password } = await newDeveloper(api);
    const path = '/api/v2/dev/browser-sessions';
    return {
      fail: (attacker) => attacker.post(path, { email, password: guess() }, SAME_ORIGIN),
      succeed: (victim) => victim.post(path, { email, password }, SAME_ORIGIN),
      status: 201,
    };
  },
  async changeDeveloperPassword() {
    const { email, password, token } = await newDeveloper(api);
    const body = { password, new_password: 'a password of tomorrow' };
    return {
      fail: (attacker) => attacker.post('/api/v2/dev/login', { email, password: guess() }),
      succeed: (victim) => victim.put('/api/v2/dev/password', body, token),
    };
  },
  async requestPasswordReset() {
    const { email } = await newDeveloper(api);
    return {
      fail: (attacker) => attacker.post('/api/v2/dev/password-resets', { email }),
      // The mailbox received the most links that it may within an hour, and each is valid for an hour.
      async succeed(victim) {
        const tokens = await vi.waitFor(
          async () => {
            const found = await tokensFor(service, email);
            expect(found).toHaveLength(5);
            return found;
          },
          { timeout: 60_000 },
        );
        const [token] = tokens as [string];
        return victim.post('/api/v2/dev/password-resets/complete', { token, password: 'a newer password' });
      },
    };
  },
  async resetDeveloperPassword() {
    const { email } = await newDeveloper(api);
    const token = await newResetToken(service, email);
    const body = (sent: string) => ({ token: sent, password: 'a newer password' });
    const path = '/api/v2/dev/password-resets/complete';
    return {
      fail: (attacker) => attacker.post(path, body(randomBytes(32).toString('base64url'))),
      succeed: (victim) => victim.post(path, body(token)),
    };
  },
  async accessAsAgent() {
    const payment = async (spt: string) => credential(await newChallenge(api), { spt });
    // Created in advance, so that the limit on challenges does not stop the attack.
    const declined = await Promise.all(
      Array.from({ length: FAILURES }, () => payment(unique('spt_test_declined'))),
    );
    const paid = await payment(unique(SPT));
    return {
      fail: (attacker) => attacker.get(ACCESS, { authorization: declined.pop()! }),
      succeed: (victim) => victim.get(ACCESS, { authorization: paid }),
    };
  },
  async 'the page that confirms an agent'() {
    const { email, password } = await newDeveloper(api);
    await registerEmail(api, email);
    const page = await pageFor(service, email);
    return {
      fail: (attacker) => attacker.post('/api/v2/dev/login', { email, password: guess() }),
      succeed: (victim) => victim.form(page, { password }),
    };
  },
  async 'the secret of an OAuth client'() {
    const machine = {
      redirect_uris: [],
      grant_types: ['client_credentials' as const],
      scopes: ['read' as const],
    };
    const { client_id, client_secret } = await newClient(api, await newDeveloper(api), machine);
    const basic = (secret: string) => ({ authorization: `Basic ${btoa(`${client_id}:${secret}`)}` });
    const grant = { grant_type: 'client_credentials' };
    return {
      fail: (attacker) => attacker.form('/oauth/token', grant, basic(guess().replaceAll(' ', ''))),
      succeed: (victim) => victim.form('/oauth/token', grant, basic(client_secret!)),
    };
  },
};

/** Only the address distinguishes these callers: failures lock out everyone at that address for a minute. */
const LIMITED_BY_ADDRESS = ['resetHwid', 'loginDeveloper', 'createBrowserSession', 'accessAsAgent'];

let blocks = 0;
const origins: Record<string, () => readonly [attacker: string, victim: string]> = {
  'the same address': () => [`203.0.113.${(blocks += 1)}`, `203.0.113.${blocks}`],
  'the same /64': () => [`2001:db8:${(blocks += 1)}:1::1`, `2001:db8:${blocks}:1:ffff::2`],
  'another address': () => [`203.0.113.${(blocks += 1)}`, `198.51.100.${blocks}`],
  'the next /64': () => [`2001:db8:${(blocks += 1)}:1::1`, `2001:db8:${blocks}:2::1`],
};

test('the attacks cover every operation that takes a password or counts attempts', () => {
  const taking = operations.filter(
    ({ rateLimit, hashesPassword, codes }) =>
      rateLimit !== undefined ||
      hashesPassword ||
      codes.some((code) => ['INVALID_CREDENTIALS', 'VERIFICATION_FAILED'].includes(code)),
  );
  for (const { operationId } of taking) expect(Object.keys(attacks)).toContain(operationId);
});

const cases = Object.keys(attacks).flatMap((name) =>
  Object.keys(origins).map((origin) => ({ name, origin, byAddress: origin.startsWith('the same') })),
);

test.each(cases)('$name: failures of an attacker at $origin do not lock out the victim', async (each) => {
  const { fail, succeed, status = 200 } = await attacks[each.name]!();
  const [attacker, victim] = origins[each.origin]!().map(from) as [Origin, Origin];
  await Promise.all(Array.from({ length: FAILURES }, () => fail(attacker)));

  const locked = each.byAddress && LIMITED_BY_ADDRESS.includes(each.name);
  expect(await succeed(victim)).toBe(locked ? 429 : status);
});
