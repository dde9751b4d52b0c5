import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newApp, newHwid, newNonce, newUser, type App } from '../support/fixtures.ts';
import { boundRequestSignatureOf, boundSignatureOf, signatureOf } from '../support/response-signature.ts';
import { startTestService } from '../support/service.ts';

const MACHINES = 20;
const OPERATIONS = {
  login: 'loginUserV2',
  'login-license': 'loginWithLicense',
  'verify-session': 'verifySessionV2',
  'reset-hwid': 'resetHwid',
} as const;

const { api, clock } = await startTestService();

type Path = keyof typeof OPERATIONS;
type Version = 1 | 2;

/** A program's request in transit. A relay can change everything that the secret does not protect. */
interface Message {
  readonly path: Path;
  readonly body: string;
  readonly headers: Record<string, string>;
}
type Network = (message: Message) => Promise<Record<string, unknown>>;

/** Delivers a message unchanged. */
const straight: Network = async ({ path, body, headers }) =>
  (await api.post(`/api/v2/client/${path}`, body, { headers })).body;

/** A signed request of a program. */
function signedMessage(version: Version, app: App, path: Path, fields: object, nonce = newNonce()): Message {
  const body = JSON.stringify({ app_id: app.app_id, ...fields, nonce });
  const timestamp = String(clock.now().getTime());
  const signature =
    version === 1
      ? createHmac('sha256', app.secret).update(body).digest('hex')
      : boundRequestSignatureOf(app, { operation: OPERATIONS[path], body }, timestamp);
  const headers = { 'x-signature': signature, 'x-timestamp': timestamp };
  return { path, body, headers: version === 1 ? headers : { ...headers, 'x-signature-version': '2' } };
}

/**
 * A program that signs its requests and accepts a response only with a correct signature of its version.
 * @returns whether it starts: it accepted a login and a verification
 */
async function starts(version: Version, app: App, network: Network, path: Path, credentials: object) {
  const hwid = newHwid();
  async function call(operation: Path, fields: object): Promise<Record<string, unknown>> {
    const nonce = newNonce();
    const message = signedMessage(version, app, operation, { ...fields, hwid }, nonce);
    const response = await network(message);
    const bound = { operation: OPERATIONS[operation], body: message.body };
    const expected =
      version === 1 ? signatureOf(app, nonce, response) : boundSignatureOf(app, bound, nonce, response);
    return response['signature'] === expected ? response : {};
  }
  const { token } = await call(path, credentials);
  return token !== undefined && (await call('verify-session', { token }))['valid'] === true;
}

/**
 * A relay with one license key and no secret: it sends unsigned requests of its own, with the nonce of the program.
 * @param requested the signature version that it requests
 */
function relay(app: App, licenseKey: string, requested: string | undefined): Network {
  const hwid = newHwid();
  const headers: Record<string, string> = requested === undefined ? {} : { 'x-signature-version': requested };
  return async ({ path, body }) => {
    const { nonce, token } = JSON.parse(body) as { nonce: string; token?: string };
    const app_id = app.app_id;
    return path === 'verify-session'
      ? straight({ path, body: JSON.stringify({ app_id, token, nonce }), headers })
      : straight({
          path: 'login-license',
          body: JSON.stringify({ app_id, license_key: licenseKey, hwid, nonce }),
          headers,
        });
  };
}

/** An application with a hardware lock that requires a subscription, and one license for it. */
async function newGuardedApp(bind_responses: boolean) {
  const app = await newApp(api);
  await app.patch({ hwid_lock: true, require_subscription: true, bind_responses });
  const [licenseKey] = (await app.keys(1, 'Pro')) as [string];
  return { app, licenseKey };
}

/**
 * The number of machines on which the program starts with one license. They start one after another, because each login
 * of the relay, which has one machine, ends the session before.
 */
async function machinesBehindRelay(
  version: Version,
  bound: boolean,
  requested?: string,
  path: 'login' | 'login-license' = 'login',
): Promise<number> {
  const { app, licenseKey } = await newGuardedApp(bound);
  const network = relay(app, licenseKey, requested);
  let running = 0;
  for (let machine = 0; machine < MACHINES; machine += 1) {
    const credentials =
      path === 'login' ? { username: `user-${machine}`, password: 'made up' } : { license_key: licenseKey };
    if (await starts(version, app, network, path, credentials)) running += 1;
  }
  return running;
}

const REQUESTED = [undefined, '1', '2'];

describe('a relay without a secret that responds to every login with a license login of its own', () => {
  test.each(REQUESTED)('cannot start a program that checks version 1, requesting %s', async (requested) => {
    expect(await machinesBehindRelay(1, true, requested)).toBe(0);
  });

  test.each(REQUESTED)('cannot start a program that checks version 2, requesting %s', async (requested) => {
    expect(await machinesBehindRelay(2, true, requested)).toBe(0);
    expect(await machinesBehindRelay(2, false, requested)).toBe(0);
  });

  test('cannot start a program that logs in with a license', async () => {
    expect(await machinesBehindRelay(2, true, '2', 'login-license')).toBe(0);
  });

  test('starts programs that check version 1 on every machine while bind_responses is off', async () => {
    expect(await machinesBehindRelay(1, false)).toBe(MACHINES);
    expect(await machinesBehindRelay(1, false, '2')).toBe(0);
  });
});

test.each([1, 2] as const)('a program that checks version %i starts without a relay', async (version) => {
  const { app, licenseKey } = await newGuardedApp(true);
  expect(await starts(version, app, straight, 'login-license', { license_key: licenseKey })).toBe(true);
});

describe('a delayed signed request', () => {
  async function delayed(version: Version, change: (message: Message) => Message) {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const message = signedMessage(version, app, 'login', user);
    clock.advance(3_600_000);
    const late = await straight(change(message));
    return { late, message, app };
  }
  const withPresentTime = (message: Message): Message => ({
    ...message,
    headers: { ...message.headers, 'x-timestamp': String(clock.now().getTime()) },
  });

  test('is accepted with a new timestamp under version 1, and never under version 2', async () => {
    expect((await delayed(1, withPresentTime)).late['status']).toBe('success');
    expect((await delayed(2, withPresentTime)).late['code']).toBe('INVALID_APP_CREDENTIALS');
    expect((await delayed(2, (message) => message)).late['code']).toBe('TIMESTAMP_OUT_OF_RANGE');
  });

  test('is never accepted with the signature of the other version', async () => {
    const asVersion1 = ({ headers: { 'x-signature-version': _, ...headers }, ...message }: Message) =>
      withPresentTime({ ...message, headers });
    expect((await delayed(2, asVersion1)).late['code']).toBe('INVALID_APP_CREDENTIALS');
    const asVersion2 = (message: Message) =>
      withPresentTime({ ...message, headers: { ...message.headers, 'x-signature-version': '2' } });
    expect((await delayed(1, asVersion2)).late['code']).toBe('INVALID_APP_CREDENTIALS');
  });
});

test('a version 2 signature is valid for its operation only', async () => {
  const app = await newApp(api);
  const elsewhere = (version: Version, user: object) =>
    straight({ ...signedMessage(version, app, 'login', user), path: 'reset-hwid' });
  expect((await elsewhere(1, await newUser(api, app)))['message']).toBe('Hardware reset.');
  expect((await elsewhere(2, await newUser(api, app)))['code']).toBe('INVALID_APP_CREDENTIALS');
});
