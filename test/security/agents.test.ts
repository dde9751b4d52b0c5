import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { PatientClient, tally, type LightResponse } from '../concurrency/load.ts';
import {
  claim,
  codeOf,
  ID_JAG,
  isAlive,
  newEmail,
  pageFor,
  register,
  registerEmail,
  registerGrant,
  revokeCredential,
  sendEvent,
  wrong,
} from '../operations/support/agents.ts';
import { Api } from '../support/api.ts';
import { createTestDatabase } from '../support/database.ts';
import { newDeveloper } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { startIdentityProvider, trusting } from '../support/identity-provider.ts';
import { spawnService, temporaryFolder } from '../support/processes.ts';
import { MASTER_KEY, readMails } from '../support/service.ts';

const AT_ONCE = 50;

const provider = await startIdentityProvider();
const dataDir = await temporaryFolder(afterAll);
const databaseUrl = await createTestDatabase();
const database = new pg.Client({ connectionString: databaseUrl });
await database.connect();
afterAll(() => database.end());

// Both nodes have one BASE_URL, which is the audience of every assertion.
const ports = [await freePort(), await freePort()] as const;
const BASE_URL = `http://127.0.0.1:${ports[0]}`;
const addresses = ports.map((port) => `http://127.0.0.1:${port}`);
for (const port of ports) {
  await spawnService(
    {
      ...trusting(provider.issuer),
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      MASTER_KEY,
      LOG_LEVEL: 'error',
      BASE_URL,
      PORT: String(port),
    },
    afterAll,
  );
}
const [one, other] = addresses.map((address) => new Api(address)) as [Api, Api];
const clients = addresses.map((address) => new PatientClient(address));
const client = (turn: number) => clients[turn % 2]!;
const sql = async (text: string, values: unknown[]) =>
  (await database.query<pg.QueryResultRow>(text, values)).rows;
const mailed = { api: one, mailbox: () => readMails(join(dataDir, 'mail')) };

const atOnce = (path: string, body: (turn: number) => object): Promise<LightResponse[]> =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, turn) => client(turn).call('POST', path, body(turn))));

describe('concurrent requests to both nodes', () => {
  test('one assertion sent 50 times works once, and creates one account and one agent', async () => {
    for (let round = 0; round < 3; round += 1) {
      const email = newEmail();
      const assertion = await provider.grant(BASE_URL, { claims: { email } });
      const responses = await atOnce('/api/v1/agent/register', () => ({
        type: 'identity_assertion',
        assertion_type: ID_JAG,
        assertion,
      }));
      expect(tally(responses)).toEqual({ 200: 1, '401 INVALID_ASSERTION': AT_ONCE - 1 });
      expect(await sql('select 1 from developers where email = $1', [email])).toHaveLength(1);
      expect(await sql('select 1 from agents where email = $1', [email])).toHaveLength(1);
    }
  });

  test('50 assertions of one subject create one account, one agent and 50 credentials', async () => {
    const claims = { sub: randomBytes(8).toString('hex'), email: newEmail() };
    const assertions = await Promise.all(
      Array.from({ length: AT_ONCE }, () => provider.grant(BASE_URL, { claims })),
    );
    const responses = await atOnce('/api/v1/agent/register', (turn) => ({
      type: 'identity_assertion',
      assertion_type: ID_JAG,
      assertion: assertions[turn],
    }));
    expect(tally(responses)).toEqual({ 200: AT_ONCE });
    expect(new Set(responses.map(({ body }) => body['registration_id'])).size).toBe(1);
    expect(await sql('select 1 from developers where email = $1', [claims.email])).toHaveLength(1);
  });

  test('50 subjects with one email address create one account, for one of them', async () => {
    const email = newEmail();
    const assertions = await Promise.all(
      Array.from({ length: AT_ONCE }, () => provider.grant(BASE_URL, { claims: { email } })),
    );
    const responses = await atOnce('/api/v1/agent/register', (turn) => ({
      type: 'identity_assertion',
      assertion_type: ID_JAG,
      assertion: assertions[turn],
    }));
    expect(tally(responses)).toEqual({ 200: 1, '401 INTERACTION_REQUIRED': AT_ONCE - 1 });
  });

  test('one code sent 50 times creates one claim, one account and one credential', async () => {
    const email = newEmail();
    const { body } = await registerEmail(one, email);
    const { claim_token } = body;
    const otp = await codeOf(other, await pageFor(mailed, email));
    const responses = await atOnce('/api/v1/agent/claim', () => ({ claim_token, otp }));
    expect(tally(responses)).toEqual({ 200: 1, '409 ALREADY_CLAIMED': AT_ONCE - 1 });
    const rows = await sql('select 1 from agent_credentials where agent_id = $1', [body.registration_id]);
    expect(rows).toHaveLength(1);
    expect(await sql('select 1 from developers where email = $1', [email])).toHaveLength(1);
  });

  test('after five wrong codes, even the right one is refused', async () => {
    const email = newEmail();
    const { claim_token } = (await registerEmail(one, email)).body;
    const otp = await codeOf(one, await pageFor(mailed, email));
    const responses = await atOnce('/api/v1/agent/claim', () => ({ claim_token, otp: wrong(otp) }));
    expect(tally(responses)).toEqual({ '401 OTP_INVALID': 5, '410 OTP_EXPIRED': AT_ONCE - 5 });
    expect((await claim(other, { claim_token, otp })).status).toBe(410);
  });

  test('one claim started 50 times sends one mail', async () => {
    const email = newEmail();
    const { claim_token } = (await register(one, { type: 'anonymous' })).body;
    const responses = await atOnce('/api/v1/agent/claim', () => ({ claim_token, email }));
    const counted = tally(responses);
    // Concurrent requests count against the limit of mails even if they send none, so some are refused.
    expect(Object.keys(counted).every((key) => ['200', '429 TOO_MANY_REQUESTS'].includes(key))).toBe(true);
    expect(counted['200']).toBeGreaterThan(0);
    expect(await sql('select mails from agent_claims where email = $1', [email])).toEqual([{ mails: 1 }]);
  });

  test('both nodes together send at most ten mails an hour to one address', async () => {
    const email = newEmail();
    const responses = await atOnce('/api/v1/agent/claim', () => ({ email }));
    expect(tally(responses)).toEqual({ 200: 10, '429 TOO_MANY_REQUESTS': AT_ONCE - 10 });
  });

  test('registrations during a revocation of their subject: no 5xx, and no older credential stays valid', async () => {
    const claims = { sub: randomBytes(8).toString('hex'), email: newEmail() };
    for (let round = 0; round < 3; round += 1) {
      const assertions = await Promise.all(
        Array.from({ length: AT_ONCE }, () => provider.grant(BASE_URL, { claims })),
      );
      const event = await provider.event(BASE_URL, 'secevent+jwt', { claims: { sub: claims.sub } });
      const registered = atOnce('/api/v1/agent/register', (turn) => ({
        type: 'identity_assertion',
        assertion_type: ID_JAG,
        assertion: assertions[turn],
      }));
      expect((await sendEvent(other, event, 'secevent+jwt')).status).toBe(202);
      const responses = await registered;
      expect(
        Object.keys(tally(responses)).every((key) => key === '200' || key === '401 INTERACTION_REQUIRED'),
      ).toBe(true);
      // If a new assertion still works, the event arrived before all registrations and revoked none.
      const late = await registerGrant(one, await provider.grant(BASE_URL, { claims }));
      if (late.status === 200) continue;
      for (const { status, body } of responses) {
        if (status === 200) expect(await isAlive(one, String(body['credential']))).toBe(false);
      }
    }
  });
});

describe('a revocation on one node takes effect on the other with the next request', () => {
  test('a credential, by the agent', async () => {
    const { body } = await registerGrant(one, await provider.grant(BASE_URL));
    expect(await isAlive(other, body.credential)).toBe(true);
    await revokeCredential(one, body.credential);
    expect(await isAlive(other, body.credential)).toBe(false);
  });

  test('a subject, by its issuer', async () => {
    const claims = { sub: randomBytes(8).toString('hex') };
    const { body } = await registerGrant(one, await provider.grant(BASE_URL, { claims }), {
      requested_credential_type: 'jwt',
    });
    expect(await isAlive(other, body.credential)).toBe(true);
    await sendEvent(one, await provider.event(BASE_URL, 'logout+jwt', { claims }), 'logout+jwt');
    expect(await isAlive(other, body.credential)).toBe(false);
  });

  test('an agent, by its developer', async () => {
    const { token } = await newDeveloper(one);
    const make = async () =>
      (
        await one.post<{ agent_id: string; credential: string }>(
          '/api/v2/dev/agents',
          { name: 'Bot', scopes: ['agent:execute'] },
          { token },
        )
      ).body;
    const [first, second] = [await make(), await make()];
    await one.call('DELETE', `/api/v2/dev/agents/${first.agent_id}`, undefined, { token });
    expect(await isAlive(other, first.credential)).toBe(false);
    await one.call('DELETE', '/api/v2/dev/agents', undefined, { token });
    expect(await isAlive(other, second.credential)).toBe(false);
  });
});
