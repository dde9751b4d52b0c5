import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { PaymentProcessor } from '../../../src/platform/payments/index.ts';
import { openStripe } from '../../../src/platform/payments/stripe/index.ts';
import { TestClock } from '../../support/clock.ts';

const KEY = 'sk_test_topsecret';

/** A Stripe that returns the same response to every request. */
async function stripeThatReturns(
  status: number,
  body: unknown,
  networkId?: string,
): Promise<PaymentProcessor> {
  const server = createServer((request, response) => {
    request.resume();
    // Without retries, whose delays would slow the tests down.
    response.writeHead(status, { 'content-type': 'application/json', 'stripe-should-retry': 'false' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = { secretKey: KEY, webhookSecrets: ['whsec_topsecret'], apiUrl, networkId };
  return openStripe(settings, { clock: new TestClock() });
}

const failure = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.fail('it did not fail'),
    (error: Error) => error,
  );

const request = { key: 'a', token: 'spt_1', amount: '250', currency: 'USD', description: 'A license' };

describe('an error response', () => {
  test.each([
    [400, { type: 'invalid_request_error', param: 'expires_at', message: 'No.' }, 'invalid'],
    [400, { type: 'idempotency_error', message: 'No.' }, 'invalid'],
    [401, { type: 'invalid_request_error', message: `Invalid API Key provided: ${KEY}` }, 'invalid'],
    [403, { type: 'invalid_request_error', message: `The key ${KEY} may not do this.` }, 'invalid'],
    [402, { type: 'card_error', code: 'card_declined', message: 'No.' }, 'declined'],
    [402, { type: 'invalid_request_error', message: 'No.' }, 'declined'],
    [400, { type: 'invalid_request_error', code: 'charge_already_refunded', message: 'No.' }, 'declined'],
    [404, { type: 'invalid_request_error', code: 'resource_missing', message: 'No.' }, 'not_found'],
    [404, { type: 'invalid_request_error', message: 'Unrecognized request URL.' }, 'not_found'],
  ])('%i %o has the right fault and does not reveal the key', async (status, error, fault) => {
    const payments = await stripeThatReturns(status, { error });
    const thrown = await failure(payments.setCancellation('sub_1', true));
    expect(thrown).toMatchObject({ name: 'PaymentsError', fault });
    expect(inspect(thrown, { depth: 10 })).not.toContain('topsecret');
  });

  test.each([
    [409, { error: { type: 'invalid_request_error', code: 'idempotency_key_in_use', message: 'Wait.' } }],
    [429, { error: { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many.' } }],
    [500, { error: { type: 'api_error', message: 'Sorry.' } }],
    [503, '<html>Sorry</html>'],
    [200, '<html>A proxy</html>'],
  ])('%i %o is no service', async (status, body) => {
    const payments = await stripeThatReturns(status, body);
    const thrown = await failure(payments.setCancellation('sub_1', true));
    expect(thrown).toMatchObject({ name: 'PaymentsUnavailableError' });
    expect(inspect(thrown, { depth: 10 })).not.toContain('topsecret');
  });

  test('is described in the message', async () => {
    const error = { type: 'invalid_request_error', param: 'expires_at', message: 'It must be later.' };
    const payments = await stripeThatReturns(400, { error });
    const { message } = await failure(payments.setCancellation('sub_1', true));
    expect(message).toBe(
      'Stripe refuses: StripeInvalidRequestError, status 400, param expires_at: It must be later.',
    );
  });
});

describe('a machine payment', () => {
  test.each(['requires_action', 'requires_payment_method', 'processing', 'canceled'])(
    'that is %s is declined',
    async (status) => {
      const payments = await stripeThatReturns(200, { id: 'pi_1', status, created: 1 }, 'profile_1');
      expect(await failure(payments.charge(request))).toMatchObject({ fault: 'declined' });
    },
  );

  test('whose token Stripe does not accept is declined', async () => {
    const error = { type: 'invalid_request_error', code: 'resource_missing', message: 'No such token.' };
    const payments = await stripeThatReturns(400, { error }, 'profile_1');
    expect(await failure(payments.charge(request))).toMatchObject({ fault: 'declined' });
  });

  test('that is not valid is refused', async () => {
    const ok = { id: 'pi_1', status: 'succeeded', created: 1 };
    const payments = await stripeThatReturns(200, ok, 'profile_1');
    expect(await payments.charge(request)).toEqual({ paymentRef: 'pi_1', paidAt: new Date(1000) });
    expect(await failure(payments.charge({ ...request, amount: '2.5' }))).toMatchObject({ fault: 'invalid' });
    const without = await stripeThatReturns(200, ok);
    expect(await failure(without.charge(request))).toMatchObject({ fault: 'invalid' });
  });
});

describe('a refund', () => {
  test.each(['failed', 'canceled'])('that is %s is declined', async (status) => {
    const payments = await stripeThatReturns(200, { id: 're_1', status });
    expect(await failure(payments.refund('pi_1', undefined, 'a'))).toMatchObject({ fault: 'declined' });
  });

  test('that is pending at the bank succeeds', async () => {
    const payments = await stripeThatReturns(200, { id: 're_1', status: 'pending' });
    await payments.refund('pi_1', undefined, 'a');
  });
});
