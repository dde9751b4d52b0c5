import { describe, expect, test } from 'vitest';
import { newApp, newDeveloper, type Developer } from '../../support/fixtures.ts';
import { authorize, newClient } from '../../support/oauth.ts';
import { claim, codeOf, isAlive, mailsTo, newAgent, pageFor } from '../support/agents.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import {
  completeReset,
  loginStatus,
  meStatus,
  newResetToken,
  startTwoServices,
} from '../support/passwords.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

const { service, second } = await startTwoServices();
const { api, baseUrl } = service;
const password = 'a new password';

async function loggedIn(account: Developer): Promise<Developer> {
  const { email } = account;
  const { body } = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
  return { ...account, password, token: body.token };
}

/** Resets the password for an account whose address was never proved, keeping its access. */
async function verified(): Promise<Developer> {
  const account = await newDeveloper(api);
  const token = await newResetToken(service, account.email);
  await completeReset(api, { token, password, end_access: false });
  return loggedIn(account);
}

/** An account with a credential of every kind. */
async function accessOf(developer: Developer) {
  const app = await newApp(api, developer);
  const apiToken = await newApiToken(api, developer, ['read']);
  const agent = await newAgent(api, developer);
  const machine = await newClient(api, developer, {
    redirect_uris: [],
    grant_types: ['client_credentials'],
    scopes: ['read'],
  });
  const of = await newDeveloper(api);
  const foreign = await newClient(api, of);
  const { redeem } = await authorize(baseUrl, developer, foreign);
  const { access_token: delegated } = await redeem();
  const machineToken = async () => {
    const response = await fetch(`${baseUrl}/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${machine.client_id}:${machine.client_secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    return response.status;
  };
  expect(await machineToken()).toBe(200);
  return {
    app,
    /** The credentials that are still valid; OAuth tokens are for the node that they name. */
    alive: async () => ({
      apiToken: await meStatus(second.api, apiToken.token),
      agent: await isAlive(second.api, agent.credential),
      machine: await machineToken(),
      delegated: await meStatus(api, delegated),
    }),
  };
}
const ALL = { apiToken: 200, agent: true, machine: 200, delegated: 200 };
const NONE = { apiToken: 401, agent: false, machine: 401, delegated: 401 };

test('the new password is valid and every session ends, on every node', async () => {
  const developer = await newDeveloper(api);
  expect(await meStatus(second.api, developer.token)).toBe(200);
  const token = await newResetToken(service, developer.email);
  const { status, body } = await completeReset(api, { token, password });
  expect({ status, body }).toEqual({ status: 200, body: { status: 'success', message: 'Password set.' } });
  expect([await meStatus(api, developer.token), await meStatus(second.api, developer.token)]).toEqual([
    401, 401,
  ]);
  expect(await loginStatus(second.api, developer.email, developer.password)).toBe(401);
  expect(await loginStatus(second.api, developer.email, password)).toBe(200);
  const again = await loggedIn(developer);
  expect(await auditLog(api, again, '&action=developer.password_reset')).toMatchObject([
    {
      actor: { kind: 'developer', id: developer.developerId, address: '127.0.0.1' },
      data: { end_access: true },
    },
  ]);
  const mails = await mailsTo(service, developer.email, 2);
  expect(mails.filter(({ subject }) => subject!.includes('was changed'))).toHaveLength(1);
});

test('a token works once, even with concurrent requests to two nodes', async () => {
  const { email } = await newDeveloper(api);
  const token = await newResetToken(service, email);
  const responses = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      completeReset(n % 2 === 0 ? api : second.api, { token, password: `password number ${n}` }),
    ),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(401)]);
  const winner = responses.findIndex(({ status }) => status === 200);
  expect(await loginStatus(api, email, `password number ${winner}`)).toBe(200);
  await mailsTo(service, email, 2);
});

test('logins with the old password that run at the same time leave no session', async () => {
  const developer = await newDeveloper(api);
  const token = await newResetToken(service, developer.email);
  const old = { email: developer.email, password: developer.password };
  const logins = Array.from({ length: 12 }, (_, n) =>
    (n % 2 === 0 ? api : second.api).post<{ token?: string }>('/api/v2/dev/login', old),
  );
  const reset = completeReset(api, { token, password });
  const tokens = (await Promise.all(logins)).flatMap(({ body }) => body.token ?? []);
  expect((await reset).status).toBe(200);
  for (const each of tokens) expect(await meStatus(second.api, each)).toBe(401);
});

describe('what acts for the account', () => {
  test('ends if the address was never proved, because anyone may have opened it', async () => {
    const developer = await newDeveloper(api);
    const { app, alive } = await accessOf(developer);
    expect(await alive()).toEqual(ALL);
    const token = await newResetToken(service, developer.email);
    expect((await completeReset(api, { token, password })).status).toBe(200);
    expect(await alive()).toEqual(NONE);
    // The applications stay.
    const { token: mine } = await loggedIn(developer);
    const { status } = await api.call('GET', `/api/v2/dev/apps/${app.app_id}`, undefined, { token: mine });
    expect(status).toBe(200);
  });

  test('continues if it was proved, unless the request ends it', async () => {
    const developer = await verified();
    const { alive } = await accessOf(developer);
    const first = await newResetToken(service, developer.email);
    expect((await completeReset(api, { token: first, password })).status).toBe(200);
    expect(await alive()).toEqual(ALL);
    await mailsTo(service, developer.email, 4);
    const next = await newResetToken(service, developer.email);
    expect((await completeReset(api, { token: next, password, end_access: true })).status).toBe(200);
    expect(await alive()).toEqual(NONE);
  });
});

test('an agent that was confirmed before, and returns with its code afterwards, has no owner', async () => {
  const { email, password: old } = await newDeveloper(api);
  const { claim_token } = (await claim(api, { email })).body;
  const otp = await codeOf(api, await pageFor(service, email), old);
  const token = await newResetToken(service, email);
  expect((await completeReset(api, { token, password, end_access: true })).status).toBe(200);
  expectError(await claim(second.api, { claim_token, otp }), 410, 'OTP_EXPIRED');
});

test('browsers are signed out', async () => {
  const developer = await verified();
  const registered = await newClient(api, await newDeveloper(api));
  const { browser, url } = await authorize(baseUrl, developer, registered);
  expect(url.searchParams.get('code')).toBeTruthy();
  // Signed in, with a known client: no page is shown.
  const silently = { prompt: 'none' };
  const { url: known } = await authorize(baseUrl, developer, registered, silently, browser);
  expect(known.searchParams.get('code')).toBeTruthy();
  const token = await newResetToken(service, developer.email);
  expect((await completeReset(api, { token, password: 'a third password' })).status).toBe(200);
  // No one is signed in, so the error is not sent to the client but shown with a link to it.
  const gone = authorize(baseUrl, developer, registered, silently, browser);
  await expect(gone).rejects.toThrow('error=login_required');
});

test.each(['x', 'A'.repeat(43), 'ü'.repeat(43), '../../login'])(
  'INVALID_RESET_TOKEN for %j',
  async (token) => {
    expectError(await completeReset(api, { token, password }), 401, 'INVALID_RESET_TOKEN');
  },
);

test('an invalid password is refused, and the token stays valid', async () => {
  const { email } = await newDeveloper(api);
  const token = await newResetToken(service, email);
  expectFaults(await completeReset(api, { token, password: 'short' }), '/password');
  expectFaults(await completeReset(api, { token, password: 'x'.repeat(129) }), '/password');
  expect((await completeReset(api, { token, password })).status).toBe(200);
});
