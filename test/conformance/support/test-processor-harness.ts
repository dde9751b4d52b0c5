import createKnex from 'knex';
import type { PaymentFact } from '../../../src/platform/payments/index.ts';
import { signedHeaders } from '../../../src/platform/payments/test-processor/signature.ts';
import { atFileEnd } from '../../support/at-file-end.ts';
import { CARDS, form, openTestShop } from '../../platform/payments/support/test-shop.ts';
import type { PaymentsHarness, SignedEvent } from './payments.ts';

const SECRET = Buffer.alloc(32, 7);

/** The test processor with the events that it really sends. */
export async function startTestProcessor(): Promise<PaymentsHarness> {
  const { clock, knex, processor, receiver, open, workAll } = await openTestShop();
  const log = { warn() {}, error() {}, deprecate() {}, debug() {} };
  const lost = createKnex({ client: 'pg', connection: 'postgresql://127.0.0.1:1/nothing', log });
  atFileEnd(() => lost.destroy());
  let made = 0;
  const next = (name: string) => `${name}_${(made += 1)}`;

  /** Runs a function, and returns the events about one object that were sent since the last time. */
  async function events(about: (fact: PaymentFact) => boolean, happens: () => Promise<unknown>) {
    await happens();
    await workAll();
    return receiver.received
      .splice(0)
      .filter(({ body }) => (JSON.parse(body.toString()) as { facts: PaymentFact[] }).facts.some(about));
  }

  const ofSession = (sessionRef: string) => (fact: PaymentFact) =>
    fact.kind === 'checkout' && fact.sessionRef === sessionRef;
  const ofSubscription = (subscriptionRef: string) => (fact: PaymentFact) =>
    'subscriptionRef' in fact && fact.subscriptionRef === subscriptionRef;
  const ofPayment = (paymentRef: string, kind: 'refund' | 'dispute') => (fact: PaymentFact) =>
    fact.kind === kind && fact.paymentRef === paymentRef;

  async function nextPeriod(subscriptionRef: string, cardPays: boolean) {
    const subscription = () => knex('test_subscriptions').where({ subscription_ref: subscriptionRef });
    await subscription().update({ card_pays: cardPays });
    const { due_at } = (await subscription().first<{ due_at: Date }>('due_at'))!;
    clock.advance(Math.max(0, due_at.getTime() - clock.now().getTime()));
  }

  function signed(body: object, secret = SECRET): SignedEvent {
    const text = JSON.stringify(body);
    return { body: Buffer.from(text), headers: signedHeaders(secret, next('nt'), text, clock.now()) };
  }

  return {
    clock,
    open: async () => open(),
    openUnreachable: async () => open({ knex: lost }),
    says: {
      async paid(sessionRef) {
        const reference = (await processor.lookUpCheckout(sessionRef)).flatMap((fact) =>
          'reference' in fact ? [fact.reference] : [],
        )[0];
        return events(
          (fact) => 'reference' in fact && fact.reference === reference,
          () => processor.page.pay(sessionRef, form(CARDS.pays)),
        );
      },
      async failed(sessionRef) {
        await processor.page.pay(sessionRef, form(CARDS.delayedFailure));
        await workAll();
        return events(ofSession(sessionRef), async () => clock.advance(30_000));
      },
      expired: (sessionRef) => events(ofSession(sessionRef), async () => clock.advance(3_600_000)),
      renewed: (subscriptionRef) =>
        events(ofSubscription(subscriptionRef), () => nextPeriod(subscriptionRef, true)),
      renewalFailed: (subscriptionRef) =>
        events(ofSubscription(subscriptionRef), () => nextPeriod(subscriptionRef, false)),
      subscriptionEnded: (subscriptionRef) =>
        events(ofSubscription(subscriptionRef), () => processor.endSubscription(subscriptionRef, false)),
      refunded: (paymentRef, amountMinor) =>
        events(ofPayment(paymentRef, 'refund'), () =>
          processor.refund(paymentRef, amountMinor, next('refund')),
        ),
      disputed: (paymentRef) =>
        events(ofPayment(paymentRef, 'dispute'), () => processor.openDispute(paymentRef)),
      disputeWon: (paymentRef) =>
        events(ofPayment(paymentRef, 'dispute'), () => processor.closeDispute(paymentRef, true)),
      disputeLost: (paymentRef) =>
        events(ofPayment(paymentRef, 'dispute'), () => processor.closeDispute(paymentRef, false)),
      somethingElse: async () => [signed({ type: 'x', account: 'acct_test', livemode: false, facts: [] })],
    },
    ofAnotherAccount: async () => signed({ type: 'x', account: 'acct_other', livemode: false, facts: [] }),
    forge: ({ body }) => signed(JSON.parse(body.toString()) as object, Buffer.alloc(32, 8)),
    tokens: {
      // Each can pay once.
      get accepted() {
        return next('spt_test');
      },
      declined: 'spt_test_declined',
    },
  };
}
