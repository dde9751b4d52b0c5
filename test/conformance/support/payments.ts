import type { IncomingHttpHeaders } from 'node:http';
import type { PaymentProcessor } from '../../../src/platform/payments/index.ts';
import type { TestClock } from '../../support/clock.ts';

/** An event as the webhook would receive it. */
export interface SignedEvent {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/**
 * A payment processor under test, which the test controls. Each method of `says` causes something at the processor and
 * returns each of its events in the order in which they would be sent, signed at the time of `clock`. The processor
 * keeps its state, so that look-ups report it afterwards.
 */
export interface PaymentsHarness {
  /** The clock of the service and of the processor. */
  readonly clock: TestClock;
  /** Opens the implementation, each time like another process of the service with the same account. */
  open(): Promise<PaymentProcessor>;
  /** Opens it with a processor that cannot be reached. */
  openUnreachable(): Promise<PaymentProcessor>;
  readonly says: {
    /** The payer pays a checkout. If it is recurring, the subscription starts with its first invoice paid. */
    paid(sessionRef: string): Promise<readonly SignedEvent[]>;
    /** The payment of a checkout fails for good. */
    failed(sessionRef: string): Promise<readonly SignedEvent[]>;
    /** A checkout expired unpaid. */
    expired(sessionRef: string): Promise<readonly SignedEvent[]>;
    /** The next period of a subscription has started and is paid. */
    renewed(subscriptionRef: string): Promise<readonly SignedEvent[]>;
    /** The next period of a subscription has started, and its payment fails, but will be retried. */
    renewalFailed(subscriptionRef: string): Promise<readonly SignedEvent[]>;
    /** A subscription has ended. */
    subscriptionEnded(subscriptionRef: string): Promise<readonly SignedEvent[]>;
    /** An amount is refunded on the processor's own page. It can be repeated for a payment. */
    refunded(paymentRef: string, amountMinor: number): Promise<readonly SignedEvent[]>;
    /** The payer's bank reverses a payment. */
    disputed(paymentRef: string): Promise<readonly SignedEvent[]>;
    /** A disputed payment is returned to us. */
    disputeWon(paymentRef: string): Promise<readonly SignedEvent[]>;
    disputeLost(paymentRef: string): Promise<readonly SignedEvent[]>;
    /** An event that is irrelevant to the service. */
    somethingElse(): Promise<readonly SignedEvent[]>;
  };
  /** A correctly signed event of another account, or of test money if ours is real. */
  ofAnotherAccount(): Promise<SignedEvent>;
  /** The event, signed with an unknown secret. */
  forge(event: SignedEvent): SignedEvent;
  /**
   * Tokens of machine payments, by their effect. Each access of `accepted` returns a new one, which can pay once.
   */
  readonly tokens: { readonly accepted: string; readonly declined: string };
}
