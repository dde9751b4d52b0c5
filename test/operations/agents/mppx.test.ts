import { Challenge, Receipt } from 'mppx';
import { Mppx, stripe } from 'mppx/client';
import { expect, test } from 'vitest';
import { startTestService } from '../../support/service.ts';
import { ACCESS, SPT } from '../support/machine-payments.ts';

const { api, baseUrl, clock } = await startTestService();
// The client uses the clock of the machine.
clock.advance(Date.now() - clock.now().getTime());

const mppx = (spt: string) =>
  Mppx.create({
    polyfill: false,
    methods: [stripe.charge({ createToken: async () => spt, paymentMethod: 'pm_card_visa' })],
  });

test('the client of MPP pays from end to end', async () => {
  const response = await mppx(SPT).fetch(baseUrl + ACCESS);
  expect(response.status).toBe(200);
  const { access_token, payment } = (await response.json()) as {
    access_token: string;
    payment: { reference: string };
  };
  expect(Receipt.fromResponse(response)).toMatchObject({
    method: 'stripe',
    status: 'success',
    reference: payment.reference,
  });
  const { status } = await api.call('GET', '/api/v1/agent/token', undefined, { token: access_token });
  expect(status).toBe(200);
});

test('the client of MPP gets the refusal when its payment is declined', async () => {
  const response = await mppx('spt_test_declined').fetch(baseUrl + ACCESS);
  expect(response.status).toBe(402);
  expect(Challenge.fromResponse(response).method).toBe('stripe');
  expect(await response.json()).toMatchObject({
    type: 'https://paymentauth.org/problems/verification-failed',
  });
});
