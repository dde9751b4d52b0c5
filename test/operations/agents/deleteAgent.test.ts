import { expect, test } from 'vitest';
import { DAY, TestClock } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startIdentityProvider, trusting } from '../../support/identity-provider.ts';
import { startTestService } from '../../support/service.ts';
import {
  claim,
  codeOf,
  isAlive,
  newEmail,
  pageFor,
  register,
  registerEmail,
  registerGrant,
} from '../support/agents.ts';
import { expectError } from '../support/errors.ts';

const time: { clock: TestClock } = { clock: new TestClock() };
const provider = await startIdentityProvider({ now: () => time.clock.now() });
const service = await startTestService(trusting(provider.issuer));
const { api, baseUrl, clock, databaseUrl, services } = service;
time.clock = clock;

const remove = (agentId: string, token: string) =>
  api.call('DELETE', `/api/v2/dev/agents/${agentId}`, undefined, { token });

const owned = async (token: string) =>
  (
    await api.post<{ agent_id: string; credential: string }>(
      '/api/v2/dev/agents',
      { name: 'Bot', scopes: ['read', 'auth:dev', 'agent:execute'] },
      { token },
    )
  ).body;

test('an agent is invalid from the response, and the audit log records it', async () => {
  const { token } = await newDeveloper(api);
  const agent = await owned(token);
  const other = await owned(token);
  expect((await remove(agent.agent_id, token)).status).toBe(200);
  expect(await isAlive(api, agent.credential)).toBe(false);
  expect(await isAlive(api, other.credential)).toBe(true);
  // Repeating it changes nothing.
  expect((await remove(agent.agent_id, token)).status).toBe(200);
  const { body: log } = await api.call<{ data: { action: string; target: string }[] }>(
    'GET',
    '/api/v2/dev/audit-log?action=agent.revoked',
    undefined,
    { token },
  );
  expect(log.data.map(({ target }) => target)).toEqual([agent.agent_id]);
  const { status, body } = await api.call('GET', `/api/v2/dev/agents/${agent.agent_id}`, undefined, {
    token,
  });
  expect([status, body]).toMatchObject([200, { revoked_at: clock.now().toISOString(), credentials: [] }]);
});

test('another developer’s and an absent one are the same', async () => {
  const { token } = await newDeveloper(api);
  const agent = await owned(token);
  const stranger = await newDeveloper(api);
  expectError(await remove(agent.agent_id, stranger.token), 404, 'AGENT_NOT_FOUND');
  expect(await isAlive(api, agent.credential)).toBe(true);
});

test('an agent may end itself', async () => {
  const { token } = await newDeveloper(api);
  const agent = await owned(token);
  expect((await remove(agent.agent_id, agent.credential)).status).toBe(200);
  expect(await isAlive(api, agent.credential)).toBe(false);
});

test('its issuer must be authorized again', async () => {
  const { email, password, token } = await newDeveloper(api);
  const grant = () => provider.grant(baseUrl, { claims: { sub: 'ada', email } });
  async function authorize(mails: number) {
    const refused = await registerGrant(api, await grant());
    expectError(refused, 401, 'INTERACTION_REQUIRED');
    const { claim_token } = refused.body;
    await claim(api, { claim_token });
    const otp = await codeOf(api, await pageFor(service, email, mails), password);
    return (await claim(api, { claim_token, otp })).body;
  }
  const first = await authorize(1);
  const { body: more } = await registerGrant(api, await grant());
  expect((await remove(first.registration_id, token)).status).toBe(200);
  expect(await isAlive(api, first.credential)).toBe(false);
  expect(await isAlive(api, more.credential)).toBe(false);
  const second = await authorize(2);
  expect(second.registration_id).not.toBe(first.registration_id);
  expect(await isAlive(api, second.credential)).toBe(true);
});

test('housekeeping deletes what has ended, and nothing else', async () => {
  const { email, password, token } = await newDeveloper(api);
  const kept = await owned(token);
  const revoked = await owned(token);
  await remove(revoked.agent_id, token);
  const anonymous = await register(api, { type: 'anonymous' });
  const mailed = await registerEmail(api, newEmail());
  const asserted = await registerGrant(api, await provider.grant(baseUrl));
  const database = await connectTo(databaseUrl);
  const ids = async () =>
    (await database.query<{ agent_id: string }>('select agent_id from agents')).rows.map(
      (row) => row.agent_id,
    );
  const clear = async () => {
    while ((await services.agents.clearExpired()) > 0);
    return ids();
  };
  const unclaimed = [anonymous.body.registration_id, mailed.body.registration_id];
  clock.advance(DAY);
  expect(await clear()).toEqual(expect.arrayContaining(unclaimed));
  expectError(await claim(api, { claim_token: mailed.body.claim_token }), 410, 'CLAIM_EXPIRED');
  clock.advance(DAY + 1);
  const left = await clear();
  for (const id of unclaimed) expect(left).not.toContain(id);
  expectError(await claim(api, { claim_token: mailed.body.claim_token }), 401, 'INVALID_CLAIM_TOKEN');
  expect(left).toEqual(
    expect.arrayContaining([kept.agent_id, revoked.agent_id, asserted.body.registration_id]),
  );
  const { rows } = await database.query('select 1 from used_assertions');
  expect(rows).toEqual([]);
  clock.advance(29 * DAY);
  expect(await clear()).not.toContain(revoked.agent_id);
  expect(await isAlive(api, kept.credential)).toBe(true);
  const again = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
  expectError(await remove(revoked.agent_id, again.body.token), 404, 'AGENT_NOT_FOUND');
});
