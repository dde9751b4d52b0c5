import { randomBytes, randomInt } from 'node:crypto';
import { expect } from 'vitest';
import { startStripeAlone } from '../../conformance/support/stripe-harness.ts';
import { Refusal } from '../../conformance/support/stripe-routes.ts';
import { access, credential, encoded, newChallenge } from '../../operations/support/machine-payments.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import type { Api } from '../../support/api.ts';
import { ADMINISTRATOR, openCheckout, sellPlan } from '../../support/billing.ts';
import { spawnService, type ServiceProcess } from '../../support/processes.ts';
import { ADMIN_TOKEN } from '../../support/service.ts';

/** Stores a secret under a name. @returns it */
type Keep = (name: string, secret: string) => string;

const digits = (amount: number) => Array.from({ length: amount }, () => randomInt(10)).join('');

/** A random card number with a valid check digit. */
function cardNumber(): string {
  const known = `4${digits(14)}`;
  const sum = [...known]
    .map((digit, index) => Number(digit) * (index % 2 === 0 ? 2 : 1))
    .reduce((total, value) => total + (value > 9 ? value - 9 : value), 0);
  return `${known}${(10 - (sum % 10)) % 10}`;
}

/** Makes one purchase of each kind with the test processor, so that no table of payments stays empty. */
export async function payForEverything(api: Api, token: string, keep: Keep): Promise<void> {
  keep('administrator token', ADMIN_TOKEN);
  const wrong = keep('wrong administrator token', randomBytes(32).toString('hex'));
  expect((await api.call('GET', '/api/v2/admin/plans', undefined, { token: wrong })).status).toBe(401);
  await api.call('PATCH', '/api/v2/admin/plans/free', { max_licenses: 1_000 }, ADMINISTRATOR);
  const plans = [
    await sellPlan(api, { kind: 'license_quota', period: 'lifetime', price: 10, licenses: 100 }),
    await sellPlan(api, { kind: 'reseller_balance', period: 'lifetime', price: 50, balance: 60 }),
    await sellPlan(api, { price: 190 }),
  ];
  const cheaper = await sellPlan(api, { price: 19 });
  for (const [index, plan] of plans.entries()) {
    const { url, sessionId } = await openCheckout(api, { token }, plan);
    keep(`payment page ${index}`, new URL(url).pathname.split('/').at(-1)!);
    const pay = async (fields: Record<string, string>) => {
      const form = { name: 'Ada', number: '4242 4242 4242 4242', expiry: '12 / 40', cvc: '123', ...fields };
      const body = new URLSearchParams(form);
      return (await fetch(url, { method: 'POST', body, redirect: 'manual' })).status;
    };
    const number = keep(`card ${index}`, cardNumber());
    const spaced = keep(`card ${index}, with spaces`, number.replace(/(.{4})(?=.)/g, '$1 '));
    expect(await pay({ number })).toBe(422);
    // Data typed into the wrong field, and too much data.
    const cvc = keep(`security code ${index}`, digits(24));
    expect(await pay({ number: spaced, cvc })).toBe(422);
    expect(await pay({ cvc })).toBe(422);
    expect(await (await fetch(url, { headers: { referer: url } })).text()).not.toContain(cvc);
    expect(await pay({})).toBe(303);
    const state = async () =>
      (await api.call('GET', `/api/v2/dev/checkouts/${sessionId}`, undefined, { token })).body['state'];
    await expect.poll(state).toBe('paid');
  }
  keep('test card', '4242424242424242');
  // A cheaper plan results in a credit.
  const changed = await api.call(
    'PATCH',
    '/api/v2/dev/subscription',
    { plan_name: cheaper.plan_id },
    { token },
  );
  expect(changed.status).toBe(200);
  const { body } = await api.call<{ data: { invoice_id: string }[] }>(
    'GET',
    '/api/v2/dev/invoices',
    undefined,
    { token },
  );
  const refund = `/api/v2/admin/invoices/${body.data.at(-1)!.invoice_id}/refunds`;
  expect((await api.post(refund, { amount: 1 }, ADMINISTRATOR)).status).toBe(200);

  for (const kind of ['', 'declined']) {
    const spt = keep(`payment token ${kind}`, `spt_test_${kind}${randomBytes(20).toString('hex')}`);
    const paying = credential(await newChallenge(api), { spt });
    keep(`Payment credential ${kind}`, paying.slice('Payment '.length));
    const response = await access(api, paying);
    expect(response.status).toBe(kind === '' ? 200 : 402);
    if (response.status === 200) keep('agent token', response.body.access_token);
    expect((await access(api, paying)).status).toBe(402);
  }
  const broken = keep('broken Payment credential', `${randomBytes(24).toString('hex')}`);
  await access(api, encoded(broken));
  await access(api, `Payment ${broken}`);
}

/** Runs a service with Stripe, which refuses requests and sends genuine and forged events. */
export async function payWithStripe(
  environment: Record<string, string>,
  token: string,
  keep: Keep,
): Promise<ServiceProcess> {
  const { settings, server, says, forge, event } = await startStripeAlone(systemClock);
  const secret = keep('Stripe key', `sk_test_${randomBytes(20).toString('hex')}`);
  const webhookSecret = keep('Stripe webhook secret', `whsec_${randomBytes(20).toString('hex')}`);
  const process_ = await spawnService({
    ...environment,
    STRIPE_SECRET_KEY: secret,
    STRIPE_WEBHOOK_SECRET: `${settings.webhookSecrets.at(-1)},${webhookSecret}`,
    STRIPE_API_URL: settings.apiUrl!,
    STRIPE_NETWORK_ID: settings.networkId!,
  });
  const { api } = process_;
  const plan = await sellPlan(api, { period: 'lifetime', price: 490 });
  const { url } = await openCheckout(api, { token }, plan);
  keep('page of Stripe', new URL(url).pathname);
  const session = new URL(url).pathname.split('/').at(-1)!;
  const events = [...(await says.paid(session)), event('charge.refunded', { payment_intent: null })];
  for (const event of events.flatMap((each) => [forge(each), each])) {
    const signature = keep(`signature ${event.body.length}`, String(event.headers['stripe-signature']));
    const headers = { 'stripe-signature': signature };
    const { status } = await api.post('/api/v2/payments/webhook', event.body.toString(), { headers });
    expect([200, 400]).toContain(status);
  }
  const spt = keep('payment token at Stripe', `spt_${randomBytes(20).toString('hex')}`);
  const refusals = [
    new Refusal(401, { type: 'invalid_request_error', message: `Invalid API Key provided: ${secret}` }),
    new Refusal(500, { type: 'api_error', message: `Something about ${secret}` }),
  ];
  for (const refusal of refusals) {
    server.refuses = () => refusal;
    await api.post('/api/v1/checkout', { plan_name: plan.plan_id }, { token });
    await access(api, credential(await newChallenge(api), { spt }));
  }
  return process_;
}
