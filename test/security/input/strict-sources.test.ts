import { createHmac } from 'node:crypto';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import type { PaymentEvent } from '../../../src/platform/payments/index.ts';
import { createWebhookEvents } from '../../../src/platform/payments/stripe/webhook-events.ts';
import { openTestShop } from '../../platform/payments/support/test-shop.ts';
import { TestClock } from '../../support/clock.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startIdentityProvider, trusting } from '../../support/identity-provider.ts';
import { startTestService } from '../../support/service.ts';
import { registerGrant, sendEvent } from '../../operations/support/agents.ts';

const time: { clock: TestClock } = { clock: new TestClock() };
const provider = await startIdentityProvider({ now: () => time.clock.now() });
const { api, baseUrl, clock } = await startTestService(trusting(provider.issuer));
time.clock = clock;

/** Ways to write an object that two parsers read differently, or that one of them refuses. */
const AMBIGUOUS: readonly (readonly [string, (json: string) => Buffer])[] = [
  ['a member twice', (json) => Buffer.from(json.replace('{', '{"iss":"a","iss":"b",'))],
  ['a member twice, in two spellings', (json) => Buffer.from(json.replace('{', '{"x":"a","\\u0078":"b",'))],
  ['a member twice within', (json) => Buffer.from(json.replace('{', '{"x":{"a":1,"a":2},'))],
  ['__proto__', (json) => Buffer.from(json.replace('{', '{"__proto__":{},'))],
  ['a lone surrogate', (json) => Buffer.from(json.replace('{', '{"x":"\\ud800",'))],
  ['a byte order mark', (json) => Buffer.from(`\ufeff${json}`)],
  ['bytes that are not UTF-8', (json) => Buffer.from(json.replace('{', '{"x":"\xff",'), 'latin1')],
  ['UTF-16', (json) => Buffer.from(json, 'utf16le')],
];

const partsOf = (token: string) =>
  token
    .split('.')
    .slice(0, 2)
    .map((part) => Buffer.from(part, 'base64url').toString()) as [string, string];

/** Signs tokens that no library produces. */
async function signBytes(token: string, header: (json: string) => Buffer, payload: (json: string) => Buffer) {
  const [head, claims] = partsOf(token);
  const input = `${header(head).toString('base64url')}.${payload(claims).toString('base64url')}`;
  const { privateKey } = provider.key();
  const signature = await crypto.subtle.sign(
    { name: 'ECDSA', hash: 'SHA-256' },
    privateKey,
    Buffer.from(input),
  );
  return `${input}.${Buffer.from(signature).toString('base64url')}`;
}

const asIs = (json: string) => Buffer.from(json);

describe('a token of a trusted issuer', () => {
  test('is accepted unchanged', async () => {
    expect(
      (await registerGrant(api, await signBytes(await provider.grant(baseUrl), asIs, asIs))).status,
    ).toBe(200);
    const event = await provider.event(baseUrl, 'secevent+jwt', {
      claims: { sub_id: { format: 'iss_sub', iss: provider.issuer, sub: 'a' } },
    });
    expect((await sendEvent(api, await signBytes(event, asIs, asIs), 'secevent+jwt')).status).toBe(202);
  });

  test.each(AMBIGUOUS)('is refused with %s', async (_what, spoil) => {
    for (const [header, payload] of [
      [spoil, asIs],
      [asIs, spoil],
    ] as const) {
      const grant = await signBytes(await provider.grant(baseUrl), header, payload);
      expect(await registerGrant(api, grant)).toMatchObject({
        status: 401,
        body: { detail: 'The token is not a valid JWT.' },
      });
      const event = await signBytes(await provider.event(baseUrl, 'secevent+jwt'), header, payload);
      const response = await sendEvent(api, event, 'secevent+jwt');
      expect(response).toMatchObject({ status: 400, body: { err: 'invalid_request' } });
    }
  });
});

describe('a message to MCP', () => {
  const developer = newDeveloper(api);
  const send = async (body: Uint8Array, type = 'application/json', headers = {}) => {
    const response = await fetch(`${baseUrl}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${(await developer).token}`, 'content-type': type, ...headers },
      body: new Uint8Array(body),
    });
    return { status: response.status, body: (await response.json()) as unknown };
  };
  const MESSAGE = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

  test('is accepted unchanged', async () => {
    expect(await send(Buffer.from(MESSAGE))).toMatchObject({ status: 200, body: { id: 1 } });
  });

  test.each([
    ['a foreign charset', 'application/json; charset=iso-8859-1', {}],
    ['two charsets', 'application/json; charset=utf-8; charset=utf-16', {}],
    ['another media type', 'text/plain', {}],
    ['a content encoding', 'application/json', { 'content-encoding': 'gzip' }],
  ])('is refused with %s', async (_what, type, headers) => {
    const refused = await send(Buffer.from(MESSAGE), type, headers);
    expect(refused).toMatchObject({
      status: 415,
      body: { jsonrpc: '2.0', id: null, error: { code: -32_000 } },
    });
  });

  test.each(AMBIGUOUS)('is refused with %s', async (_what, spoil) => {
    const refused = await send(spoil(MESSAGE));
    expect(refused).toMatchObject({
      status: 400,
      body: { jsonrpc: '2.0', id: null, error: { code: -32_700 } },
    });
  });
});

describe('an event of payments', () => {
  const shopClock = new TestClock();
  const secret = 'whsec_example';
  const stripe = createWebhookEvents(
    new Stripe('sk_test_example'),
    { secretKey: 'sk_test_example', webhookSecrets: [secret] } as never,
    {} as never,
    shopClock,
  );
  const event = { id: 'evt_1', object: 'event', type: 'ping', livemode: false, data: { object: {} } };
  const fromStripe = async (bytes: Buffer): Promise<PaymentEvent | undefined> => {
    const at = Math.floor(shopClock.now().getTime() / 1000);
    const signature = createHmac('sha256', secret).update(`${at}.`).update(bytes).digest('hex');
    return stripe.read(bytes, { 'stripe-signature': `t=${at},v1=${signature}` });
  };

  test('is read', async () => {
    expect(await fromStripe(Buffer.from(JSON.stringify(event)))).toBeUndefined();
  });

  test.each(AMBIGUOUS)('of Stripe is refused with %s', async (_what, spoil) => {
    const read = fromStripe(spoil(JSON.stringify(event)));
    // Stripe's library does not verify signatures of bytes that are not text.
    await expect(read).rejects.toMatchObject({ fault: expect.stringMatching(/^(invalid|signature)$/) });
  });

  test('of the test processor is as strict', async () => {
    const { processor, signed } = await openTestShop();
    const event = '{"account":"acct_test","livemode":false,"type":"ping","facts":[]}';
    expect(await processor.readEvent(...signed(Buffer.from(event)))).toBeUndefined();
    for (const [what, spoil] of AMBIGUOUS) {
      await expect(processor.readEvent(...signed(spoil(event))), what).rejects.toMatchObject({
        fault: 'invalid',
      });
    }
  });
});

test.each(AMBIGUOUS)('the keys of an issuer with %s are refused', async (_what, spoil) => {
  await provider.rotate();
  clock.advance(24 * 3_600_000);
  provider.keySet.write = spoil;
  const { status } = await registerGrant(api, await provider.grant(baseUrl));
  provider.keySet.write = asIs;
  expect(status).toBe(503);
});
