import { expect, test } from 'vitest';
import { TestClock } from '../../support/clock.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startIdentityProvider, trusting } from '../../support/identity-provider.ts';
import { startTestService } from '../../support/service.ts';
import { claim, codeOf, isAlive, pageFor, registerGrant } from '../support/agents.ts';
import { expectError } from '../support/errors.ts';

const time: { clock: TestClock } = { clock: new TestClock() };
const provider = await startIdentityProvider({ now: () => time.clock.now() });
const service = await startTestService(trusting(provider.issuer));
const { api, baseUrl, clock } = service;
time.clock = clock;

const revokeAll = (token: string) =>
  api.call<{ revoked: number }>('DELETE', '/api/v2/dev/agents', undefined, { token });
const owned = async (token: string) => {
  const wanted = { name: 'Bot', scopes: ['agent:execute'] };
  return (await api.post<{ credential: string }>('/api/v2/dev/agents', wanted, { token })).body.credential;
};

test('every agent of the developer, whoever has let it in, and nobody else’s', async () => {
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
