import { describe, expect, test } from 'vitest';
import { connectMqtt, webSocketUrl } from '../realtime/support/mqtt-client.ts';
import {
  newApp,
  newHwid,
  newNonce,
  newSession,
  signed,
  unique,
  type App,
  type User,
} from '../support/fixtures.ts';
import { boundRequestSignatureOf } from '../support/response-signature.ts';
import { startTestService } from '../support/service.ts';
import { operations, resolve, shapeOf, type ContractOperation } from './operations.ts';

const { api, clock } = await startTestService();

/** An application that requires signatures, a user with a live session, and an unused key. */
interface Program {
  readonly app: App;
  readonly owner: User;
  readonly token: string;
  readonly licenseKey: string;
}

/** How `require_signatures` affects an operation, and a request of it that is valid but for its signature. */
type Meaning =
  | 'signed requests alone'
  | 'refused: it takes no signature'
  | 'unchanged: the request carries the secret'
  | 'unchanged: a session is its bearer token'
  | 'unchanged: it takes neither secret nor session'
  | 'unchanged: a device signs it';
type Body = (program: Program) => object;

const none: Body = () => ({});

const MEANINGS: Readonly<Record<string, readonly [Meaning, Body]>> = {
  loginUserV2: ['signed requests alone', ({ owner }) => owner],
  loginWithLicense: [
    'signed requests alone',
    ({ licenseKey }) => ({ license_key: licenseKey, hwid: newHwid() }),
  ],
  verifySessionV2: ['signed requests alone', ({ token }) => ({ token })],
  logoutUserV2: ['signed requests alone', ({ token }) => ({ session_token: token })],
  resetHwid: ['signed requests alone', ({ owner: { username, password } }) => ({ username, password })],
  verifySession: ['refused: it takes no signature', ({ token }) => ({ token })],
  logoutUser: ['refused: it takes no signature', ({ token }) => ({ token })],
  initApplication: ['unchanged: the request carries the secret', none],
  registerUser: [
    'unchanged: the request carries the secret',
    () => ({ username: unique('user'), password: 'a user password', hwid: newHwid() }),
  ],
  loginUser: ['unchanged: the request carries the secret', ({ owner }) => owner],
  activateLicense: [
    'unchanged: the request carries the secret',
    ({ owner, licenseKey }) => ({ username: owner.username, license_key: licenseKey }),
  ],
  initApplicationV2: ['unchanged: it takes neither secret nor session', none],
  registerDevice: ['unchanged: a device signs it', none],
  registerUserV2: ['unchanged: a device signs it', none],
  loginWithPassword: ['unchanged: a device signs it', none],
  activateLicenseV2: ['unchanged: a device signs it', none],
  refreshSession: ['unchanged: a device signs it', none],
  listClientVariables: ['unchanged: a session is its bearer token', none],
  getClientVariable: ['unchanged: a session is its bearer token', none],
  listClientFiles: ['unchanged: a session is its bearer token', none],
  downloadClientFile: ['unchanged: a session is its bearer token', none],
  streamSessionEvents: ['unchanged: a session is its bearer token', none],
  authenticateSandbox: [
    'unchanged: it takes neither secret nor session',
    () => ({ username: 'ada', hwid: newHwid() }),
  ],
  verifySandboxSession: ['unchanged: it takes neither secret nor session', none],
};

/** Operations for an application or a session, by the contract. */
const ofPrograms = operations.filter(
  ({ tokenKind, requestBody, tag }) =>
    (tag === 'Client' || tag === 'Sandbox') &&
    (tokenKind === 'session' || 'app_id' in propertiesOf(requestBody)),
);

function propertiesOf(requestBody: ContractOperation['requestBody']): object {
  return requestBody ? shapeOf(resolve(requestBody.schema)).properties : {};
}

async function newProgram(): Promise<Program> {
  const app = await newApp(api);
  const { token, owner } = await newSession(api, app);
  const [licenseKey] = (await app.keys(1)) as [string];
  const path = `/api/v2/dev/apps/${app.app_id}`;
  const value = { value: 'Welcome back.', visibility: 'session' };
  await api.call('PUT', `${path}/variables/motd`, value, { token: app.token });
  const headers = { 'content-type': 'application/octet-stream' };
  await api.call('PUT', `${path}/files/setup.exe`, 'MZ', { token: app.token, headers });
  await app.patch({ require_signatures: true });
  return { app, owner, token, licenseKey };
}

async function call(
  { method, path }: ContractOperation,
  program: Program,
  body: string | undefined,
  headers: Record<string, string> = {},
): Promise<string> {
  const { app } = program;
  const at = path
    .replace('{app_id}', app.app_id)
    .replace('{name}', 'motd')
    .replace('{file_name}', 'setup.exe');
  const token = method === 'GET' ? program.token : undefined;
  const response = await api.call<{ code?: string }>(method, at, body, { token, headers });
  return response.status < 300 ? 'ok' : `${response.status} ${response.body.code}`;
}

test('every operation of client programs is listed', () => {
  expect(Object.keys(MEANINGS).sort()).toEqual(ofPrograms.map(({ operationId }) => operationId).sort());
});

describe.each(ofPrograms.map((operation) => [operation.operationId, operation] as const))(
  '%s under require_signatures',
  (operationId, operation) => {
    const [meaning, fields] = MEANINGS[operationId] ?? (['signed requests alone', none] as const);

    test(meaning, async () => {
      const program = await newProgram();
      const { app } = program;
      const secret = meaning === 'unchanged: the request carries the secret' && { secret: app.secret };
      const sandbox = operationId === 'verifySandboxSession' && {
        token: (await api.sandbox({ app_id: app.app_id, username: 'ada', hwid: newHwid() })).body.token,
      };
      const more = { ...secret, ...sandbox, ...fields(program) };
      const text = () => JSON.stringify({ app_id: app.app_id, ...more, nonce: newNonce() });
      const body = operation.requestBody ? text() : undefined;

      if (meaning === 'unchanged: a device signs it') {
        expect(operation.deviceSignature).toBeDefined();
        expect(await call(operation, program, body)).toBe('401 DEVICE_SIGNATURE_INVALID');
      } else if (meaning === 'signed requests alone') {
        expect(operation.signature).toBeDefined();
        expect(await call(operation, program, body)).toBe('401 SIGNATURE_REQUIRED');
        const bound = { operation: operationId, body: body! };
        const at = String(clock.now().getTime());
        const second = {
          'x-signature': boundRequestSignatureOf(app, bound, at),
          'x-timestamp': at,
          'x-signature-version': '2',
        };
        expect(await call(operation, program, body, second)).toBe('ok');
        const other = await newProgram();
        const otherBody = JSON.stringify({
          app_id: other.app.app_id,
          ...fields(other),
          nonce: newNonce(),
        });
        const first = signed(other.app, otherBody, { at: clock.now() })[1];
        expect(await call(operation, other, otherBody, first)).toBe('ok');
      } else if (meaning === 'refused: it takes no signature') {
        expect(operation.signature).toBeUndefined();
        const headers = signed(app, body!, { at: clock.now() })[1];
        for (const sent of [{}, headers])
          expect(await call(operation, program, body, sent)).toBe('401 SIGNATURE_REQUIRED');
        // The refusal did not end the session.
        await app.patch({ require_signatures: false });
        expect(await call(operation, program, body)).toBe('ok');
      } else expect(await call(operation, program, body)).toBe('ok');
    });
  },
);

test('MQTT under require_signatures accepts a session as the password', async () => {
  const { app, token } = await newProgram();
  const listening = await connectMqtt(webSocketUrl(api), { app_id: app.app_id, password: token });
  expect(await listening.subscribe(`latchkey/v2/apps/${app.app_id}/events`)).toEqual([1]);
});

test('a missing signature is refused after the session is found, and reveals no other session', async () => {
  const { app } = await newProgram();
  const { body } = await api.verify({ app_id: app.app_id, token: 'x'.repeat(22) });
  expect(body.code).toBe('SESSION_INVALID');
});
