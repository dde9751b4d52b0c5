import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Receipt } from 'mppx';
import { DAY, SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import {
  access,
  ACCESS,
  challengeOf,
  credential,
  encoded,
  newChallenge,
  SPT,
} from '../support/machine-payments.ts';

const { api, baseUrl, clock, databaseUrl, services } = await startTestService();

const PROBLEMS = 'https://paymentauth.org/problems';

/** Sends what must be refused. @returns the refusal, which requests another payment */
async function refused(authorization: string, code: string) {
  const response = await access(api, authorization);
  expectError(response, 402, code);
  expect(response.body).toMatchObject({
    type: `${PROBLEMS}/${code.toLowerCase().replaceAll('_', '-')}`,
    docs_url: `${baseUrl}/errors/${code.toLowerCase().replaceAll('_', '-')}`,
    amount: 0.001,
    currency: 'USDC',
  });
  expect(response.headers.get('cache-control')).toBe('no-store');
  const next = challengeOf(response);
  expect(next['id']).toMatch(/^[\w-]{43}$/);
  expect(authorization).not.toContain(next['id']!);
  return { ...response, next, detail: (response.body as unknown as { detail: string }).detail };
}

async function payments() {
  const database = await connectTo(databaseUrl);
  return (await database.query<Record<string, unknown>>('select * from machine_payments')).rows;
}

describe('MALFORMED_CREDENTIAL', async () => {
  const challenge = await newChallenge(api);
  const { id: _id, ...withoutId } = challenge;
  const sent = credential(challenge);
  const json = JSON.stringify({ challenge, payload: { spt: SPT } });
  const deep = 5000;

  test.each<[string, string]>([
    ['nothing', 'Payment'],
    ['nothing but blanks', 'Payment  '],
    ['no base64url', 'Payment !!!'],
    ['base64 with padding', `${encoded('{}')}=`],
    ['base64 of the other alphabet', `Payment ${Buffer.from('{"a":"???>>>"}').toString('base64')}`],
    ['a credential that is cut short', sent.slice(0, -5)],
    ['a credential that lacks its last character', sent.slice(0, -1)],
    ['a credential and more', `${sent}, Bearer x`],
    ['the challenge as its header has it', `Payment id="${challenge['id']}"`],
    ['no JSON', encoded('{')],
    ['bytes that are no UTF-8', `Payment ${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}`],
    ['JSON that is no object', encoded('[]')],
    ['null', encoded('null')],
    ['an empty object', encoded('{}')],
    ['JSON that is deeply nested', encoded('['.repeat(deep) + ']'.repeat(deep))],
    [
      'a challenge that is deeply nested',
      encoded(`{"challenge":${'['.repeat(deep)}${']'.repeat(deep)},"payload":{}}`),
    ],
    ['a member twice', encoded(json.replace('{"challenge"', '{"payload":{"spt":"spt_test_x"},"challenge"'))],
    ['a parameter twice', encoded(json.replace('"method":', '"method":"x402","method":'))],
    ['a lone surrogate', encoded(json.replace(SPT, '\\ud800'))],
    ['no challenge', credential(undefined)],
    ['no payload', credential(challenge, null)],
    ['a payload that is a text', credential(challenge, SPT)],
    ['a challenge without an id', credential(withoutId)],
    ['an id that is a number', credential({ ...challenge, id: 1 })],
    ['a request that is an object', credential({ ...challenge, request: {} })],
    ['an opaque that is an object', credential({ ...challenge, opaque: {} })],
    ['a source that is an object', credential(challenge, { spt: SPT }, { source: {} })],
    ['a payload without an spt', credential(challenge, {})],
    ['an empty spt', credential(challenge, { spt: '' })],
    ['an spt that is a number', credential(challenge, { spt: 1 })],
    ['an spt with a NUL', credential(challenge, { spt: 'spt_test_\0' })],
    ['an spt that is too long', credential(challenge, { spt: `spt_${'x'.repeat(252)}` })],
    ['an externalId that is a number', credential(challenge, { spt: SPT, externalId: 1 })],
    ['an externalId that is too long', credential(challenge, { spt: SPT, externalId: 'x'.repeat(256) })],
  ])('for %s', async (_what, authorization) => {
    await refused(authorization, 'MALFORMED_CREDENTIAL');
  });

  test('none of these uses up the challenge', async () => {
    expect((await access(api, sent)).status).toBe(200);
  });

  test('a header of 100 kB is too large for any operation', async () => {
    const response = await fetch(baseUrl + ACCESS, {
      headers: { authorization: credential(challenge, { spt: 'x'.repeat(75_000) }) },
    });
    expect(response.status).toBe(431);
    expect(await response.json()).toMatchObject({ code: 'HEADERS_TOO_LARGE' });
  });
});

describe('a payment', () => {
  test('returns a token and a receipt, and stores neither the token nor the payment token', async () => {
    const challenge = await newChallenge(api);
    const { status, headers, body } = await access(
      api,
      credential(challenge, { spt: SPT, externalId: 'order-1' }, { source: 'did:example:agent' }),
    );
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    const reference = body.payment.reference;
    expect(body).toEqual({
      status: 'success',
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 900,
      expires_at: new Date(clock.now().getTime() + 900 * SECOND).toISOString(),
      scope: 'agent:execute',
      payment: { amount: 0.001, currency: 'USDC', reference: expect.stringMatching(/^pay_/) },
    });
    expect(Receipt.deserialize(headers.get('payment-receipt')!)).toEqual({
      method: 'stripe',
      reference,
      status: 'success',
      timestamp: clock.now().toISOString(),
      externalId: 'order-1',
    });
    const row = (await payments()).find((each) => each['reference'] === reference);
    expect(row).toMatchObject({
      challenge_id: challenge['id'],
      state: 'settled',
      amount: '1000',
      currency: 'USDC',
    });
    expect(JSON.stringify(row)).not.toContain(SPT);
    expect(JSON.stringify(row)).not.toContain(body.access_token);
  });

  test('can be made for the challenge of /api/v1, too', async () => {
    const challenge = challengeOf(await api.call('GET', '/api/v1'));
    expect((await access(api, credential(challenge))).status).toBe(200);
  });

  test('can be made without the description, which is not part of the binding', async () => {
    const { description: _description, ...challenge } = await newChallenge(api);
    expect((await access(api, credential(challenge))).status).toBe(200);
  });

  test('is accepted in any case of the scheme, and with any number of blanks after it', async () => {
    for (const scheme of ['payment', 'PAYMENT  ']) {
      const sent = credential(await newChallenge(api)).replace('Payment', scheme);
      expect((await access(api, sent)).status).toBe(200);
    }
  });

  test('can be made in the last millisecond of 5 minutes', async () => {
    const challenge = await newChallenge(api);
    clock.advance(300 * SECOND - 1);
    expect((await access(api, credential(challenge))).status).toBe(200);
  });

  test('is not made by HEAD, whose response cannot contain the token', async () => {
    const authorization = credential(await newChallenge(api));
    for (const headers of [{}, { authorization }]) {
      const response = await fetch(baseUrl + ACCESS, { method: 'HEAD', headers });
      expect(response.status).toBe(402);
      expect(response.headers.get('www-authenticate')).toMatch(/^Payment id="/);
    }
    expect((await access(api, authorization)).status).toBe(200);
  });
});

describe('PAYMENT_REQUIRED', () => {
  test.each<Record<string, string>>([
    {},
    { authorization: '' },
    { authorization: 'Bearer x' },
    { authorization: 'Paymentx' },
  ])('with %j', async (headers) => {
    const response = await api.call('GET', ACCESS, undefined, { headers });
    expectError(response, 402, 'PAYMENT_REQUIRED');
    expect(challengeOf(response)['id']).toMatch(/^[\w-]{43}$/);
  });
});

describe('METHOD_UNSUPPORTED', () => {
  test.each(['x402', 'tempo', 'STRIPE', ''])('for %j', async (method) => {
    const response = await access(api, credential({ ...(await newChallenge(api)), method }, { proof: 'x' }));
    expectError(response, 400, 'METHOD_UNSUPPORTED');
    expect(response.body).toMatchObject({ type: `${PROBLEMS}/method-unsupported` });
    expect(response.headers.get('www-authenticate')).toBeNull();
  });
});

describe('INVALID_CHALLENGE', () => {
  test('for a challenge with any change; the original challenge stays valid', async () => {
    const challenge = await newChallenge(api);
    const cheaper = Buffer.from(
      Buffer.from(challenge['request']!, 'base64url').toString().replace('"1000"', '"1"'),
    ).toString('base64url');
    const others: Record<string, readonly (string | undefined)[]> = {
      id: ['', randomBytes(32).toString('base64url'), `${challenge['id']}x`, challenge['id']!.toUpperCase()],
      realm: ['', 'api.example.com'],
      intent: ['session', 'Charge'],
      request: ['', cheaper, `${challenge['request']}=`],
      expires: [undefined, '', '2099-01-01T00:00:00.000Z'],
      opaque: [undefined, '', encoded('{}').slice('Payment '.length)],
      description: ['', 'For free.'],
      digest: ['sha-256=x'],
    };
    const names = [...Object.keys(others), 'method'];
    expect(names).toEqual(expect.arrayContaining(Object.keys(challenge)));
    for (const [name, values] of Object.entries(others)) {
      for (const value of values) {
        const { detail } = await refused(credential({ ...challenge, [name]: value }), 'INVALID_CHALLENGE');
        expect(detail, `${name} ${value}`).toContain('altered');
      }
      const flipped = `${challenge[name] ?? ''}`.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
      if (flipped !== '') await refused(credential({ ...challenge, [name]: flipped }), 'INVALID_CHALLENGE');
    }
    expect((await access(api, credential(challenge))).status).toBe(200);
  });

  test('for the challenge of another installation', async () => {
    const other = await startTestService();
    const { detail } = await refused(credential(await newChallenge(other.api)), 'INVALID_CHALLENGE');
    expect(detail).toContain('altered');
  });

  test('for a challenge that was used, with the same credential and with another', async () => {
    const challenge = await newChallenge(api);
    const first = unique(SPT);
    expect((await access(api, credential(challenge, { spt: first }))).status).toBe(200);
    for (const spt of [first, 'spt_test_other']) {
      const { detail } = await refused(credential(challenge, { spt }), 'INVALID_CHALLENGE');
      expect(detail).toContain('already used');
    }
    clock.advance(301 * SECOND);
    await refused(credential(challenge), 'INVALID_CHALLENGE');
  });
});

describe('PAYMENT_EXPIRED', () => {
  test('after 5 minutes, and forever', async () => {
    const challenge = await newChallenge(api);
    clock.advance(300 * SECOND);
    await refused(credential(challenge), 'PAYMENT_EXPIRED');
    clock.advance(31 * DAY);
    const { next } = await refused(credential(challenge), 'PAYMENT_EXPIRED');
    expect((await access(api, credential(next))).status).toBe(200);
  });

  test('also for one that was used so long ago that its record is deleted', async () => {
    const challenge = await newChallenge(api);
    await access(api, credential(challenge));
    clock.advance(30 * DAY);
    await services.machinePayments.clearExpired();
    await refused(credential(challenge), 'INVALID_CHALLENGE');
    clock.advance(1);
    expect(await services.machinePayments.clearExpired()).toBeGreaterThan(0);
    await refused(credential(challenge), 'PAYMENT_EXPIRED');
  });
});

describe('VERIFICATION_FAILED', () => {
  test.each(['spt_test_declined', 'spt_test_declined_twice', 'spt_of_another_account'])(
    'for %s, which uses the challenge up',
    async (spt) => {
      const challenge = await newChallenge(api);
      const { next } = await refused(credential(challenge, { spt }), 'VERIFICATION_FAILED');
      await refused(credential(challenge, { spt }), 'INVALID_CHALLENGE');
      await refused(credential(challenge), 'INVALID_CHALLENGE');
      expect((await access(api, credential(next))).status).toBe(200);
    },
  );

  test('ten times in a minute, and then 429 before anything is charged', async () => {
    const limited = await startTestService();
    const pay = async (spt: string) =>
      access(limited.api, credential(await newChallenge(limited.api), { spt }));
    for (let time = 0; time < 10; time += 1)
      expectError(await pay('spt_test_declined'), 402, 'VERIFICATION_FAILED');
    expectError(await pay('spt_test_declined'), 429, 'TOO_MANY_REQUESTS');
    const response = await pay(SPT);
    expectError(response, 429, 'TOO_MANY_REQUESTS');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    const database = await connectTo(limited.databaseUrl);
    const { rows } = await database.query(`select 1 from machine_payments where state = 'settled'`);
    expect(rows).toEqual([]);
  });
});
