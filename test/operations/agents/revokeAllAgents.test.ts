import { expect, onTestFinished, test } from 'vitest';
import { TestClock } from '../../support/clock.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { freePort } from '../../support/free-port.ts';
import { startIdentityProvider, trusting } from '../../support/identity-provider.ts';
import { startTestService } from '../../support/service.ts';
import { claim, codeOf, isAlive, pageFor, registerGrant } from '../support/agents.ts';
import { expectError } from '../support/errors.ts';

const time: { clock: TestClock } = { clock: new TestClock() };
const provider = await startIdentityProvider({ now: () => time.clock.now() });
const service = await startTestService({ ...trusting(provider.issuer), WEBHOOK_NETWORKS: '127.0.0.1/32' });
const { api, baseUrl, clock } = service;
time.clock = clock;

const revokeAll = (token: string) =>
  api.call<{ revoked: number }>('DELETE', '/api/v2/dev/agents', undefined, { token });
const owned = async (token: string) => {
  const wanted = { name: 'Bot', scopes: ['agent:execute'] };
  return (await api.post<{ credential: string }>('/api/v2/dev/agents', wanted, { token })).body.credential;
};

test('every agent of the developer, however it was authorized, and no others', async () => {
  const { email, password, token } = await newDeveloper(api);
  const stranger = await newDeveloper(api);
  const grant = () => provider.grant(baseUrl, { claims: { sub: 'ada', email } });
  const { claim_token } = (await registerGrant(api, await grant())).body;
  await claim(api, { claim_token });
  const otp = await codeOf(api, await pageFor(service, email), password);
  const claimed = (await claim(api, { claim_token, otp })).body.credential;
  const mine = [await owned(token), await owned(token), claimed];
  const hers = await owned(stranger.token);
  const { status, body } = await revokeAll(token);
  expect([status, body]).toEqual([200, { status: 'success', revoked: 3 }]);
  for (const credential of mine) expect(await isAlive(api, credential)).toBe(false);
  expect(await isAlive(api, hers)).toBe(true);
  expect((await revokeAll(token)).body.revoked).toBe(0);
  expectError(await registerGrant(api, await grant()), 401, 'INTERACTION_REQUIRED');
  expect((await api.call('GET', '/api/v2/dev/me', undefined, { token })).status).toBe(200);
});

test('receivers get one event for all agents', async () => {
  const { token } = await newDeveloper(api);
  // No server listens there.
  const receiver = { url: `http://127.0.0.1:${await freePort()}/`, audience: 'https://example.com' };
  const path = '/api/v2/dev/security-event-receivers';
  const { receiver_id } = (await api.post<{ receiver_id: string }>(path, receiver, { token })).body;
  for (let count = 0; count < 5; count += 1) await owned(token);
  const { knex } = service.database;
  const requested: string[] = [];
  const listen = ({ sql }: { sql: string }) => {
    if (/security_event_receivers.* for key share|into "security_event_deliveries"/.test(sql))
      requested.push(sql);
  };
  knex.on('query', listen);
  onTestFinished(() => void knex.off('query', listen));
  expect((await revokeAll(token)).body.revoked).toBe(5);
  expect(requested).toHaveLength(2);
  const delivered = await knex('security_event_deliveries').where({ receiver_id }).pluck('sub_id');
  expect(new Set(delivered.map(({ id }: { id: string }) => id)).size).toBe(5);
});
