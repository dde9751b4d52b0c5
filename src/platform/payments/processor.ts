import type { IncomingHttpHeaders } from 'node:http';
import type { Charge, ChargeRequest } from './charge.ts';
import type { OpenedCheckout, Order, Product } from './order.ts';
import type { PaymentEvent } from './payment-event.ts';
import type { PaymentFact } from './payment-fact.ts';

/**
 * Takes money. What has become of it comes as facts: in events, which the processor signs and sends to our webhook, and by
 * looking things up. Facts may come in any order and any number of times; nothing else says that something was paid.
 * Each method throws PaymentsUnavailableError when the processor cannot be reached, and PaymentsError when it refuses.
 */
export interface PaymentProcessor {
  readonly processor: 'test' | 'stripe';
  /** Why an amount can be neither taken nor given back, as an end of the sentence that begins with it; undefined when it can. */
  amountFault(amountMinor: number, currency: string): string | undefined;
  /**
   * Opens a page for an order; the same one when it is asked for again with the same reference.
   * @throws PaymentsError `amount` for one that the processor does not take
   */
  openCheckout(order: Order): Promise<OpenedCheckout>;
  /**
   * Reads an event.
   * @param body the bytes as they came
   * @returns undefined for an event that tells nothing we need to know
   * @throws PaymentsError `signature` when it was not signed by the processor within the last 5 minutes, `account` when it is
   *   about another account than ours, or about test money where ours is real
   */
  readEvent(body: Buffer, headers: IncomingHttpHeaders): Promise<PaymentEvent | undefined>;
  /** What has become of a checkout until now; a subscription that followed from it included. */
  lookUpCheckout(sessionRef: string): Promise<readonly PaymentFact[]>;
  /** What has become of a subscription until now, with its last invoice. */
  lookUpSubscription(subscriptionRef: string): Promise<readonly PaymentFact[]>;
  /**
   * Moves a subscription to another product now. The processor computes what is to be paid or credited for the rest of the
   * period, and takes it at once.
   * @throws PaymentsError `declined` when what is to be paid cannot be taken, `amount` when it never can; the subscription is
   *   then as before
   */
  changeSubscription(subscriptionRef: string, product: Product): Promise<void>;
  /** Whether a subscription ends with the period that is paid. */
  setCancellation(subscriptionRef: string, atPeriodEnd: boolean): Promise<void>;
  /** Ends a subscription now; it is no error when it has ended. @param credit whether the rest of the period is credited */
  endSubscription(subscriptionRef: string, credit: boolean): Promise<void>;
  /**
   * Gives money back.
   * @param amountMinor all that is left when undefined
   * @param key repeating it with the same one refunds once
   * @throws PaymentsError `declined` when no so much is left
   */
  refund(paymentRef: string, amountMinor: number | undefined, key: string): Promise<void>;
  /**
   * Takes a machine's payment at once.
   * @throws PaymentsError `declined`
   */
  charge(request: ChargeRequest): Promise<Charge>;
  /** Deletes some of what it keeps in this service of purchases that ended long ago without a payment. @returns how many */
  clearExpired(): Promise<number>;
  /** How many rows are set aside that it keeps in this service and cannot work on. */
  setAside(): Promise<number>;
  /** Does what is due of its own accord, where that runs in this process. @returns stops it */
  start(): Promise<{ stop(): Promise<void> }>;
}
