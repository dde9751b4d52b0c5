import { Challenge } from 'mppx';
import { validate } from 'mppx/discovery';
import { expect, test } from 'vitest';
import { LEGACY_ERROR_JSON } from '../../../src/http/transport/problem.ts';
import { SECOND } from '../../support/clock.ts';
import { startTestService } from '../../support/service.ts';
import { challengeOf, credential } from '../support/machine-payments.ts';

const { api, baseUrl, clock, databaseUrl } = await startTestService();
const get = (headers: Record<string, string> = {}) => api.call('GET', '/api/v1', undefined, { headers });
const decoded = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown;
const description = 'Access to the Latchkey API for one agent, for 15 minutes.';

test('is a challenge with every parameter, and a problem with the price as a number', async () => {
  const response = await get();
  expect(response.status).toBe(402);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('www-authenticate')).toMatch(/^Payment id="/);
  expect(response.body).toMatchObject({
    type: 'https://paymentauth.org/problems/payment-required',
    docs_url: `${baseUrl}/errors/payment-required`,
    code: 'PAYMENT_REQUIRED',
    status: 402,
    amount: 0.001,
    currency: 'USDC',
    description,
  });
  const challenge = challengeOf(response);
  expect(Object.keys(challenge)).toEqual([
    'id',
    'realm',
    'method',
    'intent',
    'request',
    'expires',
    'opaque',
    'description',
  ]);
  expect(challenge).toMatchObject({
    id: expect.stringMatching(/^[\w-]{43}$/),
    realm: new URL(baseUrl).host,
    method: 'stripe',
    intent: 'charge',
    expires: new Date(clock.now().getTime() + 300 * SECOND).toISOString(),
    description,
  });
  expect(decoded(challenge['request']!)).toEqual({
    amount: '1000',
    currency: 'USDC',
    description,
    methodDetails: { networkId: 'latchkey-test', paymentMethodTypes: ['card'] },
  });
});

test('differs each time, even in the same millisecond', async () => {
  const responses = await Promise.all(Array.from({ length: 20 }, () => get()));
  const challenges = responses.map(challengeOf);
  for (const name of ['id', 'opaque']) {
    expect(new Set(challenges.map((challenge) => challenge[name])).size).toBe(20);
  }
});

test('is 402 for any request', async () => {
  const paid = credential(challengeOf(await get()));
  for (const authorization of [paid, 'Payment', 'Bearer x']) {
    const { status, body } = await get({ authorization });
    expect({ status, code: body['code'] }).toEqual({ status: 402, code: 'PAYMENT_REQUIRED' });
  }
  for (const query of ['?x=1', '?x=1&x=2', '?%ZZ']) {
    expect((await api.call('GET', `/api/v1${query}`)).status).toBe(402);
  }
});

test('has the legacy model for a client that requests it by name', async () => {
  const { status, headers, body } = await get({ accept: LEGACY_ERROR_JSON });
  expect(status).toBe(402);
  expect(headers.get('www-authenticate')).toMatch(/^Payment id="/);
  expect(body).toMatchObject({
    status: 'fail',
    error: 'PAYMENT_REQUIRED',
    code: 402,
    type: 'https://paymentauth.org/problems/payment-required',
    amount: 0.001,
    currency: 'USDC',
  });
});

test('responds to HEAD with the same headers', async () => {
  const response = await fetch(`${baseUrl}/api/v1`, { method: 'HEAD' });
  expect(response.status).toBe(402);
  expect(response.headers.get('www-authenticate')).toMatch(/^Payment id="/);
  expect(await response.text()).toBe('');
});

test('names the host of BASE_URL as its realm', async () => {
  const other = await startTestService({ DATABASE_URL: databaseUrl, BASE_URL: 'https://api.example.com/' });
  // The service does not reveal its address.
  const response = await other.services.machinePayments
    .buyAccess(undefined, { address: '127.0.0.1' })
    .catch((error: { challenge: string }) => error.challenge);
  expect(response).toContain('realm="api.example.com"');
});

test('can be parsed by the client of MPP, and verified under no other key', async () => {
  const response = await fetch(`${baseUrl}/api/v1`);
  const challenge = Challenge.fromResponse(response);
  expect(challenge).toMatchObject({
    realm: new URL(baseUrl).host,
    method: 'stripe',
    intent: 'charge',
    request: { amount: '1000', currency: 'USDC', methodDetails: { networkId: 'latchkey-test' } },
    description,
  });
  expect(Challenge.verify(challenge, { secretKey: 'another key' })).toBe(false);
  expect(Challenge.serialize(challenge)).toContain(`id="${challenge.id}"`);
});

test('is offered in the contract as MPP discovers it', async () => {
  const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as {
    paths: Record<string, { get: Record<string, unknown> }>;
  };
  expect(validate(document)).toEqual([]);
  for (const path of ['/api/v1', '/api/v1/agent/access']) {
    expect(document.paths[path]!.get['x-payment-info'], path).toEqual({
      intent: 'charge',
      method: 'stripe',
      amount: '1000',
      currency: 'USDC',
      description,
    });
  }
});
