import type { IncomingHttpHeaders } from 'node:http';
import type { Payments } from '../../../src/platform/payments/index.ts';
import type { TestClock } from '../../support/clock.ts';

/** A notice as it would come to the webhook. */
export interface SignedNotice {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/**
 * A payment processor under test, whose world a test decides about. Each method of `says` makes something happen at the
 * processor and gives every notice of it, in the order in which they would be sent, signed at the present time of `clock`.
 * What has happened is kept, so that look-ups tell of it afterwards.
 */
export interface PaymentsHarness {
  /** The clock of the service and of the processor. */
  readonly clock: TestClock;
  /** Opens the implementation; each time as another process of the service that uses the same account. */
  open(): Promise<Payments>;
  /** Opens it on a processor that cannot be reached. */
  openUnreachable(): Promise<Payments>;
  readonly says: {
    /** The payer pays a checkout. Of a recurring one the subscription begins, and its first invoice is paid. */
    paid(sessionRef: string): Promise<readonly SignedNotice[]>;
    /** The payment of a checkout is refused for good. */
    failed(sessionRef: string): Promise<readonly SignedNotice[]>;
    /** Nobody has paid a checkout in time. */
    expired(sessionRef: string): Promise<readonly SignedNotice[]>;
    /** The next period of a subscription has begun and is paid. */
    renewed(subscriptionRef: string): Promise<readonly SignedNotice[]>;
    /** The next period of a subscription has begun, and its payment fails; it will be tried again. */
    renewalFailed(subscriptionRef: string): Promise<readonly SignedNotice[]>;
    /** A subscription has ended for ever. */
    subscriptionEnded(subscriptionRef: string): Promise<readonly SignedNotice[]>;
    /** Somebody gives that much back, by the processor's own page; of a payment it can be said again. */
    refunded(paymentRef: string, amountMinor: number): Promise<readonly SignedNotice[]>;
    /** The payer's bank takes a payment back. */
    disputed(paymentRef: string): Promise<readonly SignedNotice[]>;
    /** A payment that was disputed is ours again. */
    disputeWon(paymentRef: string): Promise<readonly SignedNotice[]>;
    disputeLost(paymentRef: string): Promise<readonly SignedNotice[]>;
    /** Something that is of no interest to the service. */
    somethingElse(): Promise<readonly SignedNotice[]>;
  };
  /** A notice that is signed as it should be, and is about another account, or about test money where ours is real. */
  ofAnotherAccount(): Promise<SignedNotice>;
  /** The notice, signed now by somebody who does not know the secret. */
  forge(notice: SignedNotice): SignedNotice;
  /** Tokens of machine payments: what the processor does with them. One that is accepted may pay once: each is another one. */
  readonly tokens: { readonly accepted: string; readonly declined: string };
}
