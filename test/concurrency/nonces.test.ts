import { describe, expect, test } from 'vitest';
import { newApp, newHwid, newNonce, newSession, newUser } from '../support/fixtures.ts';
import { tally, type LightResponse } from './load.ts';
import { sign, V2_OPERATIONS, type V2Operation } from './signed.ts';
import { startTwoProcesses } from './two-processes.ts';

const two = await startTwoProcesses();
const { client, sql } = two;
const [{ api }] = two.services;

/** Sends one signed request many times concurrently, to both processes. */
function replay(
  operation: V2Operation,
  { text, headers }: ReturnType<typeof sign>,
  times = 100,
): Promise<LightResponse[]> {
  return Promise.all(
    Array.from({ length: times }, (_, turn) =>
      client(turn).post(`/api/v2/client/${operation}`, text, { headers }),
    ),
  );
}

const app = await newApp(api);

/** What each operation does once, and its response if it is refused for another reason. */
async function bodies(): Promise<Record<V2Operation, { works: object; fails: object; code: string }>> {
  const user = await newUser(api, app);
  const verified = await newSession(api, app);
  const ended = await newSession(api, app);
  const [license_key] = await app.keys(1);
  const unknown = 'x'.repeat(22);
  return {
    login: {
      works: user,
      fails: { ...user, password: 'a wrong password' },
      code: 'INVALID_CREDENTIALS',
    },
    'login-license': {
      works: { license_key, hwid: newHwid() },
      fails: { license_key: '00000-00000-00000-00000-00000', hwid: newHwid() },
      code: 'LICENSE_NOT_FOUND',
    },
    'verify-session': {
      works: { token: verified.token },
      fails: { token: unknown },
      code: 'SESSION_INVALID',
    },
    logout: {
      works: { session_token: ended.session_id },
      fails: { session_token: unknown },
      code: 'SESSION_INVALID',
    },
  };
}

describe.each(V2_OPERATIONS.map((operation) => ({ operation })))('$operation', ({ operation }) => {
  test('one nonce, sent 100 times at once to two processes, works once', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { works } = (await bodies())[operation];
      const responses = await replay(operation, sign(app, { ...works, nonce: newNonce() }));
      expect(tally(responses)).toEqual({ 200: 1, '401 NONCE_REUSED': 99 });
    }
  });

  test('if the request fails for another reason, one of 100 gets that reason', async () => {
    const { fails, code } = (await bodies())[operation];
    const request = sign(app, { ...fails, nonce: newNonce() });
    const { '401 NONCE_REUSED': reused, ...others } = tally(await replay(operation, request));
    expect(reused).toBe(99);
    expect(Object.keys(others)).toEqual([expect.stringContaining(code)]);
    // It stays spent at both processes.
    expect(tally(await replay(operation, request, 4))).toEqual({ '401 NONCE_REUSED': 4 });
  });

  test('an expired nonce works again, once', async () => {
    const { works, fails } = (await bodies())[operation];
    const nonce = newNonce();
    await replay(operation, sign(app, { ...fails, nonce }), 2);
    await sql(`update nonces set expires_at = now() - interval '1 second'`);
    const responses = await replay(operation, sign(app, { ...works, nonce }));
    expect(tally(responses)).toEqual({ 200: 1, '401 NONCE_REUSED': 99 });
  });
});

test('one nonce in requests of every operation at once works in one of them', async () => {
  for (let round = 0; round < 5; round += 1) {
    const every = await bodies();
    const nonce = newNonce();
    const responses = (
      await Promise.all(
        V2_OPERATIONS.map((operation) =>
          replay(operation, sign(app, { ...every[operation].works, nonce }), 12),
        ),
      )
    ).flat();
    expect(tally(responses)).toEqual({ 200: 1, '401 NONCE_REUSED': 47 });
  }
});

test('each application has its own nonces', async () => {
  const others = await Promise.all(Array.from({ length: 5 }, () => newApp(api)));
  const nonce = newNonce();
  const responses = await Promise.all(
    others.map(async (other) => {
      const { token } = await newSession(api, other);
      return replay('verify-session', sign(other, { token, nonce }), 20);
    }),
  );
  for (const each of responses) expect(tally(each)).toEqual({ 200: 1, '401 NONCE_REUSED': 19 });
});

test('a nonce is stored before the response to its request arrives', async () => {
  const { token } = await newSession(api, app);
  for (let round = 0; round < 30; round += 1) {
    const { text, headers } = sign(app, { token, nonce: newNonce() });
    const send = (turn: number) => client(turn).post('/api/v2/client/verify-session', text, { headers });
    expect((await send(round)).status).toBe(200);
    expect((await send(round + 1)).code).toBe('NONCE_REUSED');
  }
});

test('a nonce of an unsigned request is for the response only, and is not spent', async () => {
  const { token } = await newSession(api, app);
  const nonce = newNonce();
  const body = { app_id: app.app_id, token, nonce };
  const unsigned = await Promise.all(
    Array.from({ length: 10 }, (_, turn) => client(turn).post('/api/v2/client/verify-session', body)),
  );
  expect(tally(unsigned)).toEqual({ 200: 10 });
  const signed = await replay('verify-session', sign(app, { token, nonce }), 10);
  expect(tally(signed)).toEqual({ 200: 1, '401 NONCE_REUSED': 9 });
});
