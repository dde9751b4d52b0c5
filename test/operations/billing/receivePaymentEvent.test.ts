import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  untilPaymentEventsProcessed,
  billed,
  invoicesOf,
  paymentEventWriter,
  openCheckout,
  paid,
  payWith,
  becomes,
  sellPlan,
} from '../../support/billing.ts';
import { newDeveloper, unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import type { PaymentFact } from '../../../src/platform/payments/index.ts';
import { comparable, expectError } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { auditLog } from '../support/tokens.ts';

const service = await startTestService();
const { api, clock, database } = service;
const processor = await paymentEventWriter(service);
const plan = await sellPlan(api, { period: 'lifetime' });

const send = (body: string | Uint8Array, headers: Record<string, string>) =>
  api.call<{ message?: string }>('POST', '/api/v2/payments/webhook', body, { headers });
const deliver = (facts: readonly PaymentFact[], other: Parameters<typeof processor.headers>[1] = {}) => {
  const body = processor.event(facts);
  return send(body, processor.headers(body, other));
};
const expectOutcome = (response: Awaited<ReturnType<typeof send>>, message: string) =>
  expect({ status: response.status, body: response.body }).toEqual({
    status: 200,
    body: { status: 'success', message },
  });
const refuse = (response: Awaited<ReturnType<typeof send>>) =>
  expectError(response, 400, 'INVALID_PAYMENT_EVENT');

/** A developer with an open checkout. */
async function buyer() {
  const developer = await newDeveloper(api);
  const opened = await openCheckout(api, developer, plan);
  const { token } = developer;
  return {
    developer,
    opened,
    state: async () => {
      const path = `/api/v2/dev/checkouts/${opened.sessionId}`;
      return (await api.call('GET', path, undefined, { token })).body['state'];
    },
    planId: async () => {
      const { body } = await api.call<{ plan: { id: string } }>('GET', '/api/v2/dev/me', undefined, {
        token,
      });
      return body.plan.id;
    },
  };
}

test('an event of the test processor arrives by HTTP, and the purchase is granted', async () => {
  const { developer, opened, planId } = await buyer();
  expect(await payWith('pays', opened)).toBe(303);
  await becomes(api, developer, opened, 'paid');
  await untilPaymentEventsProcessed(service);
  expect(await planId()).toBe(plan.plan_id);
});

test('applied once, then repeated, with any content under the same id', async () => {
  const { developer, opened, state, planId } = await buyer();
  const id = unique('nt');
  expectOutcome(await deliver([paid(opened)], { id }), 'applied');
  expect([await state(), await planId()]).toEqual(['paid', plan.plan_id]);
  const entries = await auditLog(api, developer);
  for (const facts of [[paid(opened)], [paid(opened, { amountMinor: 1 })]])
    expectOutcome(await deliver(facts, { id }), 'repeated');
  // Under another id it is applied, to no effect.
  expectOutcome(await deliver([paid(opened)]), 'applied');
  expect(await auditLog(api, developer)).toEqual(entries);
  expect(await invoicesOf(api, developer)).toHaveLength(1);
});

test('20 concurrent deliveries have one effect', async () => {
  const { developer, opened } = await buyer();
  const id = unique('nt');
  const responses = await Promise.all(Array.from({ length: 20 }, () => deliver([paid(opened)], { id })));
  const messages = responses.map(({ body }) => body.message).sort();
  expect(messages).toEqual(['applied', ...Array.from({ length: 19 }, () => 'repeated')]);
  expect(await invoicesOf(api, developer)).toHaveLength(1);
});

test('ignored and not stored if it contains nothing that the service uses', async () => {
  const id = unique('nt');
  for (let n = 0; n < 2; n += 1) expectOutcome(await deliver([], { id }), 'ignored');
  expect(await database.knex('payment_notices').where({ notice_id: id })).toEqual([]);
});

describe('refused, and nothing is granted, when it is about', () => {
  test.each<[string, (opened: Awaited<ReturnType<typeof buyer>>['opened']) => PaymentFact]>([
    ['less', (opened) => paid(opened, { amountMinor: 1899 })],
    ['more', (opened) => paid(opened, { amountMinor: 1901 })],
    ['another currency', (opened) => paid(opened, { currency: 'EUR' })],
    ['another session', (opened) => paid(opened, { sessionRef: 'cs_test_other' })],
    [
      'a purchase that is not ours',
      (opened) => paid(opened, { reference: 'chk_01kazmg5t6v7w8x9y0z1a2b3c4' }),
    ],
    ['a subscription where a lifetime plan was sold', (opened) => paid(opened, { subscriptionRef: 'su_1' })],
  ])('%s', async (_what, fact) => {
    const { developer, opened, state, planId } = await buyer();
    expectOutcome(await deliver([fact(opened)]), 'refused');
    expect([await state(), await planId()]).toEqual(['open', 'free']);
    expect(await invoicesOf(api, developer)).toEqual([]);
    // The correct event is still accepted.
    expectOutcome(await deliver([paid(opened)]), 'applied');
    expect(await planId()).toBe(plan.plan_id);
  });

  test('a first invoice with another amount', async () => {
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, await sellPlan(api));
    const end = new Date(inDays(clock, 30));
    expectOutcome(await deliver([billed(opened, clock.now(), end, { amountMinor: 1 })]), 'refused');
    expect(await invoicesOf(api, developer)).toEqual([]);
  });
});

describe('INVALID_PAYMENT_EVENT', async () => {
  const { opened, state } = await buyer();
  const body = processor.event([paid(opened)]);
  const good = () => processor.headers(body);

  test.each<[string, () => Record<string, string>]>([
    ['no header at all', () => ({})],
    ['another secret', () => processor.headers(body, { secret: randomBytes(32) })],
    ['another id', () => ({ ...good(), 'webhook-id': 'nt_other' })],
    ['another time', () => ({ ...good(), 'webhook-timestamp': String(clock.now().getTime() / 1000 + 1) })],
    ['no time', () => ({ ...good(), 'webhook-timestamp': '' })],
    ['an invalid time', () => ({ ...good(), 'webhook-timestamp': '1e9' })],
    ['an empty signature', () => ({ ...good(), 'webhook-signature': '' })],
    [
      'another version of signature',
      () => {
        const headers = good();
        return { ...headers, 'webhook-signature': headers['webhook-signature']!.replace('v1,', 'v1a,') };
      },
    ],
    ["Stripe's signature", () => ({ 'stripe-signature': 't=1,v1=00' })],
    [
      'a signature of 301 seconds ago',
      () => processor.headers(body, { at: new Date(clock.now().getTime() - 301_000) }),
    ],
    [
      'a signature of 301 seconds ahead',
      () => processor.headers(body, { at: new Date(clock.now().getTime() + 301_000) }),
    ],
  ])('for %s', async (_what, headers) => {
    refuse(await send(body, { 'content-type': 'application/json', ...headers() }));
    expect(await state()).toBe('open');
  });

  test('for other bytes than were signed', async () => {
    for (const other of [`${body} `, `${body}\n`, body.replace('1900', '1901'), body.toUpperCase()]) {
      const response = await send(other, good());
      if (other === body.toUpperCase()) expect(response.status).toBe(400);
      else refuse(response);
    }
    expect(await state()).toBe('open');
  });

  test('for another account, and for live payments', async () => {
    for (const other of [{ account: 'acct_test_other' }, { account: undefined }, { livemode: true }]) {
      const foreign = processor.event([paid(opened)], other);
      refuse(await send(foreign, processor.headers(foreign)));
    }
    expect(await state()).toBe('open');
  });

  test('has the same detail for every fault', async () => {
    const forged = await send(body, processor.headers(body, { secret: randomBytes(32) }));
    const old = await send(body, processor.headers(body, { at: new Date(0) }));
    const foreign = processor.event([], { account: 'acct_test_other' });
    expect(comparable(old)).toEqual(comparable(forged));
    expect(comparable(await send(foreign, processor.headers(foreign)))).toEqual(comparable(forged));
  });

  test('not for one that is 300 seconds old, or with one valid signature of several', async () => {
    const fresh = await buyer();
    const text = processor.event([paid(fresh.opened)]);
    const headers = processor.headers(text, { at: new Date(clock.now().getTime() - 300_000) });
    const several = `v1,AAAA ${headers['webhook-signature']}`;
    expectOutcome(await send(text, { ...headers, 'webhook-signature': several }), 'applied');
    expect(await fresh.state()).toBe('paid');
  });
});

describe('the body', () => {
  const padded = (bytes: number) => {
    const rest = bytes - processor.event([], { more: '' }).length;
    return processor.event([], { more: 'x'.repeat(rest) });
  };

  test('of 1 MiB is accepted, and one byte more gets 413', async () => {
    const largest = padded(1_048_576);
    expect(Buffer.byteLength(largest)).toBe(1_048_576);
    expectOutcome(await send(largest, processor.headers(largest)), 'ignored');
    const larger = padded(1_048_577);
    expectError(await send(larger, processor.headers(larger)), 413, 'PAYLOAD_TOO_LARGE');
  });

  test('that is not JSON, or of another type, is refused', async () => {
    for (const body of ['{', '', 'null', '[]', '"x"', '\u0000']) {
      expect((await send(body, processor.headers(body))).status, body).toBe(400);
    }
    const body = processor.event([]);
    const headers = { ...processor.headers(body), 'content-type': 'text/plain' };
    expectError(await send(body, headers), 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  test('needs no token, and an invalid one is ignored', async () => {
    const body = processor.event([]);
    const headers = { ...processor.headers(body), authorization: 'Bearer nonsense' };
    expectOutcome(await send(body, headers), 'ignored');
  });
});
