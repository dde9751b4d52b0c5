import type { IncomingHttpHeaders } from 'node:http';
import type { PaymentProcessor } from '../../../src/platform/payments/index.ts';
import type { TestClock } from '../../support/clock.ts';

/** An event as it would come to the webhook. */
export interface SignedEvent {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/**
 * A payment processor under test, whose world a test controls. Each method of `says` makes something happen at the
 * processor and returns each of its events, in the order in which they would be sent, signed at the present time of
 * `clock`. The processor keeps what has happened, so that look-ups report it afterwards.
 */
export interface PaymentsHarness {
  /** The clock of the service and of the processor. */
  readonly clock: TestClock;
  /** Opens the implementation; each time as another process of the service that uses the same account. */
  open(): Promise<PaymentProcessor>;
  /** Opens it on a processor that cannot be reached. */
  openUnreachable(): Promise<PaymentProcessor>;
  readonly says: {
    /** The payer pays a checkout. Of a recurring one the subscription begins, and its first invoice is paid. */
    paid(sessionRef: string): Promise<readonly SignedEvent[]>;
    /** The payment of a checkout is refused for good. */
    failed(sessionRef: string): Promise<readonly SignedEvent[]>;
    /** A checkout expired unpaid. */
    expired(sessionRef: string): Promise<readonly SignedEvent[]>;
    /** The next period of a subscription has begun and is paid. */
    renewed(subscriptionRef: string): Promise<readonly SignedEvent[]>;
    /** The next period of a subscription has begun, and its payment fails; it will be tried again. */
    renewalFailed(subscriptionRef: string): Promise<readonly SignedEvent[]>;
    /** A subscription has ended finally. */
    subscriptionEnded(subscriptionRef: string): Promise<readonly SignedEvent[]>;
    /** An amount is refunded on the processor's own page; the event of a payment can be repeated. */
    refunded(paymentRef: string, amountMinor: number): Promise<readonly SignedEvent[]>;
    /** The payer's bank takes a payment back. */
    disputed(paymentRef: string): Promise<readonly SignedEvent[]>;
    /** A payment that was disputed is ours again. */
    disputeWon(paymentRef: string): Promise<readonly SignedEvent[]>;
    disputeLost(paymentRef: string): Promise<readonly SignedEvent[]>;
    /** Something that is of no interest to the service. */
    somethingElse(): Promise<readonly SignedEvent[]>;
  };
  /** An event that is signed as it should be, and is about another account, or about test money where ours is real. */
  ofAnotherAccount(): Promise<SignedEvent>;
  /** The event, signed now with an unknown secret. */
  forge(event: SignedEvent): SignedEvent;
  /**
   * Tokens of machine payments: what the processor does with them. One that is accepted may pay once: each is another
   * one.
   */
  readonly tokens: { readonly accepted: string; readonly declined: string };
}
