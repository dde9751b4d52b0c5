import { describe, expect, test } from 'vitest';
import { SECOND } from '../../support/clock.ts';
import { newApp, newDeveloper, newHwid, newSession } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { encryptedSession } from '../support/journeys.ts';

const service = await startTestService();
const { api, clock, databaseUrl } = service;

const HOUR = 3600 * SECOND;

async function newSandbox() {
  const fields = { app_id: 'sandbox', username: 'Agent 🦊', hwid: newHwid() };
  return { ...fields, ...(await api.sandbox(fields)).body };
}

test('returns the same members as verify-session, with and without the machine', async () => {
  const { app_id, hwid, token, expires_at } = await newSandbox();
  for (const machine of [{}, { hwid }]) {
    const { status, body } = await api.verifySandbox({ app_id, token, ...machine });
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'success',
      sandbox: true,
      valid: true,
      user_id: 'sandbox',
      username: 'Agent 🦊',
      expiry: expires_at,
      entitlements: {
        plan: 'free_developer',
        features: ['hwid_lock', 'unlimited_logins', 'instant_reseller'],
      },
    });
  }
});

test('on every node', async () => {
  const other = await startTestService({ DATABASE_URL: databaseUrl });
  const { app_id, token } = await newSandbox();
  expect((await other.api.verifySandbox({ app_id, token })).status).toBe(200);
});

test('SESSION_EXPIRED after one hour', async () => {
  const { app_id, token } = await newSandbox();
  clock.advance(HOUR - 1);
  expect((await api.verifySandbox({ app_id, token })).status).toBe(200);
  clock.advance(1);
  expectError(await api.verifySandbox({ app_id, token }), 401, 'SESSION_EXPIRED');
});

test('expires at the time that the handshake returned, even with a fraction of a second', async () => {
  clock.advance(500);
  const { app_id, token, expires_at } = await newSandbox();
  const { body } = await api.verifySandbox({ app_id, token });
  expect(body.expiry).toBe(expires_at);
  clock.advance(Date.parse(expires_at!) - clock.now().getTime() - 1);
  expect((await api.verifySandbox({ app_id, token })).status).toBe(200);
  clock.advance(1);
  expectError(await api.verifySandbox({ app_id, token }), 401, 'SESSION_EXPIRED');
});

describe('SESSION_INVALID', () => {
  test('for every token that is not one of the sandbox for this application', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    const { token: developer } = await newDeveloper(api);
    const encrypted = await encryptedSession(service, app, session.owner);
    const { app_id, token } = await newSandbox();
    const [header, claims, signature] = token.split('.') as [string, string, string];
    const none = Buffer.from('{"alg":"none","typ":"sandbox+jwt"}').toString('base64url');
    const other = (await newSandbox()).token.split('.') as [string, string, string];
    const responses = [];
    for (const [id, handle] of [
      ['another', token],
      ['Sandbox', token],
      [app_id, `${header}.${claims}.${'A'.repeat(86)}`],
      [app_id, `${header}.${claims}`],
      [app_id, `${header}.${claims}.`],
      [app_id, `${none}.${claims}.`],
      [app_id, `${header}.${other[1]}.${signature}`],
      [app_id, token.slice(0, -1)],
      [app_id, `${token}.`],
      [app_id, 'nonsense'],
      [app_id, '.'.repeat(4096)],
      [app.app_id, session.token],
      [app.app_id, session.session_id],
      [app.app_id, encrypted.token],
      [app.app_id, developer],
    ] as const) {
      responses.push(await api.verifySandbox({ app_id: id, token: handle }));
    }
    for (const response of responses) {
      expectError(response, 401, 'SESSION_INVALID');
      expect(comparable(response)).toEqual(comparable(responses[0]!));
    }
  });

  test('for every byte that is changed', async () => {
    const { app_id, token } = await newSandbox();
    // The last character of the signature has four unused bits.
    for (let place = 0; place < token.length - 1; place += 7) {
      const other = token[place] === 'A' ? 'B' : 'A';
      const altered = token.slice(0, place) + other + token.slice(place + 1);
      expectError(await api.verifySandbox({ app_id, token: altered }), 401, 'SESSION_INVALID');
    }
  });

  test('for a token of another installation', async () => {
    const foreign = await startTestService();
    const { token } = (await foreign.api.sandbox({ app_id: 'sandbox', username: 'a', hwid: 'b' })).body;
    expectError(await api.verifySandbox({ app_id: 'sandbox', token }), 401, 'SESSION_INVALID');
  });
});

test('HWID_MISMATCH on another machine', async () => {
  const { app_id, token, hwid } = await newSandbox();
  for (const other of [newHwid(), `${hwid} `, hwid.toUpperCase()]) {
    expectError(await api.verifySandbox({ app_id, token, hwid: other }), 403, 'HWID_MISMATCH');
  }
});

test('VALIDATION_FAILED lists every fault', async () => {
  const send = (body: object) => api.post('/api/v1/sandbox/verify-session', body);
  expectFaults(await send({}), '/app_id', '/token');
  expectFaults(await send({ app_id: [], token: '', hwid: '' }), '/app_id', '/token', '/hwid');
});
