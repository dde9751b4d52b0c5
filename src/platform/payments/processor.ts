import type { IncomingHttpHeaders } from 'node:http';
import type { Charge, ChargeRequest } from './charge.ts';
import type { OpenedCheckout, Order, Product } from './order.ts';
import type { PaymentEvent } from './payment-event.ts';
import type { PaymentFact } from './payment-fact.ts';

/**
 * Takes payments. Their results are facts: in events, which the processor signs and sends to our webhook, and in
 * lookups. Facts may arrive in any order and any number of times; only they decide whether something was paid. Each
 * method throws PaymentsUnavailableError if the processor cannot be reached and PaymentsError if it refuses.
 */
export interface PaymentProcessor {
  readonly processor: 'test' | 'stripe';
  /** Why an amount can be neither charged nor refunded, as the predicate of a sentence; undefined if it can. */
  amountFault(amountMinor: number, currency: string): string | undefined;
  /**
   * Opens a page for an order. A repeated call with the same reference returns the same page.
   * @throws PaymentsError `amount` if the processor does not accept the amount
   */
  openCheckout(order: Order): Promise<OpenedCheckout>;
  /**
   * Reads an event.
   * @param body the bytes as received
   * @returns undefined for an event without a fact that we use
   * @throws PaymentsError `signature` if the processor did not sign it within the last 5 minutes; `account` if it is
   *   about another account than ours, or about test payments while ours are live
   */
  readEvent(body: Buffer, headers: IncomingHttpHeaders): Promise<PaymentEvent | undefined>;
  /** The current facts of a checkout and of the subscription that it created. */
  lookUpCheckout(sessionRef: string): Promise<readonly PaymentFact[]>;
  /** The current facts of a subscription and its last invoice. */
  lookUpSubscription(subscriptionRef: string): Promise<readonly PaymentFact[]>;
  /**
   * Moves a subscription to another product now. The processor computes the difference for the rest of the period and
   * charges or credits it immediately.
   * @throws PaymentsError `declined` if the payment fails, `amount` if the processor never accepts the amount; the
   *   subscription is then unchanged
   */
  changeSubscription(subscriptionRef: string, product: Product): Promise<void>;
  /** Sets whether a subscription ends with the paid period. */
  setCancellation(subscriptionRef: string, atPeriodEnd: boolean): Promise<void>;
  /** Ends a subscription now, if it has not ended already. @param credit whether the rest of the period is credited */
  endSubscription(subscriptionRef: string, credit: boolean): Promise<void>;
  /**
   * Refunds a payment.
   * @param amountMinor the whole remaining amount if undefined
   * @param key idempotency key: a repeated call refunds once
   * @throws PaymentsError `declined` if the amount exceeds what remains
   */
  refund(paymentRef: string, amountMinor: number | undefined, key: string): Promise<void>;
  /**
   * Takes a machine payment immediately.
   * @throws PaymentsError `declined`
   */
  charge(request: ChargeRequest): Promise<Charge>;
  /** Deletes some rows of purchases that expired long ago without a payment. @returns how many */
  clearExpired(): Promise<number>;
  /** How many of the processor's rows in this service are set aside. */
  setAside(): Promise<number>;
  /** Starts the processor's background work, if it runs in this process. @returns stops it */
  start(): Promise<{ stop(): Promise<void> }>;
}
