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

/** A request on its way from a program, in which a relay can change everything but what a secret covers. */
interface Message {
  readonly path: Path;
  readonly body: string;
  readonly headers: Record<string, string>;
}
type Network = (message: Message) => Promise<Record<string, unknown>>;

/** Takes a message where it was sent. */
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
 * A program that signs what it sends, and believes a response whose signature is right in the version that it speaks.
 * @returns whether it runs: it has believed a login and a verification
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
 * A relay that holds one license key and no secret: it sends requests of its own, unsigned, with the nonce of the program.
 * @param requested the version of signatures that it asks for
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

/** An application that locks hardware and asks for a subscription, and one license for it. */
async function newGuardedApp(bind_responses: boolean) {
  const app = await newApp(api);
  await app.patch({ hwid_lock: true, require_subscription: true, bind_responses });
  const [licenseKey] = (await app.keys(1, 'Pro')) as [string];
  return { app, licenseKey };
}

/**
 * On how many machines the program runs that one license was bought for. They start one after another: each login of the
 * relay, which has one machine, replaces the session before, and a program that verified that one later would not run.
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

describe('a relay without any secret, which answers every login with a license login of its own', () => {
  test.each(REQUESTED)('runs no program that checks version 1, asking for %s', async (requested) => {
    expect(await machinesBehindRelay(1, true, requested)).toBe(0);
  });

  test.each(REQUESTED)('runs no program that checks version 2, asking for %s', async (requested) => {
    expect(await machinesBehindRelay(2, true, requested)).toBe(0);
    expect(await machinesBehindRelay(2, false, requested)).toBe(0);
  });

  test('runs no program that logs in with a license, by its own machine', async () => {
    expect(await machinesBehindRelay(2, true, '2', 'login-license')).toBe(0);
  });

  test('runs one that checks version 1 on every machine while bind_responses is off: what the switch closes', async () => {
    expect(await machinesBehindRelay(1, false)).toBe(MACHINES);
    expect(await machinesBehindRelay(1, false, '2')).toBe(0);
  });
});

test.each([1, 2] as const)('a program that checks version %i runs without a relay', async (version) => {
  const { app, licenseKey } = await newGuardedApp(true);
  expect(await starts(version, app, straight, 'login-license', { license_key: licenseKey })).toBe(true);
});

describe('a signed request that was held back', () => {
  async function heldBack(version: Version, change: (message: Message) => Message) {
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

  test('gets in with another time under version 1, and never under version 2', async () => {
    expect((await heldBack(1, withPresentTime)).late['status']).toBe('success');
    expect((await heldBack(2, withPresentTime)).late['code']).toBe('INVALID_APP_CREDENTIALS');
    expect((await heldBack(2, (message) => message)).late['code']).toBe('TIMESTAMP_OUT_OF_RANGE');
  });

  test('never gets in as version 1 with the signature of version 2, nor the other way', async () => {
    const asVersion1 = ({ headers: { 'x-signature-version': _, ...headers }, ...message }: Message) =>
      withPresentTime({ ...message, headers });
    expect((await heldBack(2, asVersion1)).late['code']).toBe('INVALID_APP_CREDENTIALS');
    const asVersion2 = (message: Message) =>
      withPresentTime({ ...message, headers: { ...message.headers, 'x-signature-version': '2' } });
    expect((await heldBack(1, asVersion2)).late['code']).toBe('INVALID_APP_CREDENTIALS');
  });
});

test('a signed request of version 2 is of its operation alone', async () => {
  const app = await newApp(api);
  const elsewhere = (version: Version, user: object) =>
    straight({ ...signedMessage(version, app, 'login', user), path: 'reset-hwid' });
  expect((await elsewhere(1, await newUser(api, app)))['message']).toBe('Hardware reset.');
  expect((await elsewhere(2, await newUser(api, app)))['code']).toBe('INVALID_APP_CREDENTIALS');
});
