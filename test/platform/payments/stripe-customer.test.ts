import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { openStripe } from '../../../src/platform/payments/stripe/index.ts';
import { TestClock } from '../../support/clock.ts';

const MISSING = {
  error: {
    type: 'invalid_request_error',
    code: 'resource_missing',
    param: 'customer',
    message: "No such customer: 'cus_1'",
  },
};

test('a customer that the account does not have buys as a new one', async () => {
  const forms: URLSearchParams[] = [];
  const keys: unknown[] = [];
  const server = createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    const opens = request.url === '/v1/checkout/sessions';
    if (opens) {
      forms.push(form);
      keys.push(request.headers['idempotency-key']);
    }
    const refused = opens && form.has('customer');
    response.writeHead(refused ? 400 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(refused ? MISSING : { id: 'cs_1', url: 'https://pay.example/cs_1' }));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const clock = new TestClock();
  const stripe = openStripe(
    {
      secretKey: 'sk_test_1',
      webhookSecrets: ['whsec_1'],
      apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      networkId: undefined,
    },
    { clock },
  );
  const opened = await stripe.openCheckout({
    reference: 'chk_1',
    product: { productId: 'plan_1', name: 'Pro', amountMinor: 1900, currency: 'USD', recurring: null },
    customer: { reference: 'dev_1', email: 'a@example.com', customerRef: 'cus_1' },
    successUrl: 'https://shop.example/',
    cancelUrl: 'https://shop.example/',
    expiresAt: new Date(clock.now().getTime() + 3_600_000),
  });
  expect(opened).toEqual({ sessionRef: 'cs_1', url: 'https://pay.example/cs_1' });
  expect(forms.map((form) => form.get('customer_email'))).toEqual([null, 'a@example.com']);
  expect(new Set(keys).size).toBe(2);
});
