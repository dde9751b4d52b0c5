import { expect, test } from 'vitest';
import { SECOND } from '../../support/clock.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { newAgentToken } from '../support/machine-payments.ts';

const { api, clock, services } = await startTestService();
const get = (token: string) => api.call('GET', '/api/v1/agent/token', undefined, { token });

test('shows the scopes of the token and its remaining time', async () => {
  const token = await newAgentToken(api);
  const expires_at = new Date(clock.now().getTime() + 900 * SECOND).toISOString();
  clock.advance(60 * SECOND + 1);
  const { status, body } = await get(token);
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    scope: 'agent:execute',
    expires_in: 839,
    expires_at,
    reference: expect.stringMatching(/^pay_/),
    claimed: false,
  });
});

test('a token is valid for 15 minutes, to the millisecond', async () => {
  const token = await newAgentToken(api);
  clock.advance(900 * SECOND - 1);
  expect((await get(token)).body).toMatchObject({ expires_in: 0 });
  clock.advance(1);
  expectError(await get(token), 401, 'UNAUTHORIZED');
});

test('housekeeping deletes expired tokens and no others', async () => {
  clock.advance(1);
  await services.machinePayments.clearExpired();
  const token = await newAgentToken(api);
  clock.advance(900 * SECOND);
  const live = await newAgentToken(api);
  clock.advance(1);
  expect(await services.machinePayments.clearExpired()).toBe(1);
  expect(await services.machinePayments.clearExpired()).toBe(0);
  expectError(await get(token), 401, 'UNAUTHORIZED');
  expect((await get(live)).status).toBe(200);
});

test('the token is an access token (RFC 9068) whose client is the payment', async () => {
  const token = await newAgentToken(api);
  const [header, claims] = token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object);
  expect(header).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
  const reference = expect.stringMatching(/^pay_/);
  expect(claims).toMatchObject({ sub: reference, client_id: reference, scope: 'agent:execute' });
});
