/**
 * The state of a checkout. `amountMinor` and `currency` are what the processor says was paid, and must match the order.
 */
export interface CheckoutFact {
  readonly kind: 'checkout';
  readonly sessionRef: string;
  readonly reference: string;
  /** `processing`: the bank has not decided yet. Only `paid` means that the money has arrived. */
  readonly state: 'open' | 'processing' | 'paid' | 'failed' | 'expired';
  readonly amountMinor: number;
  readonly currency: string;
  /** The payment of a checkout that is paid once, or of a subscription's first period if it is known. */
  readonly paymentRef: string | null;
  readonly subscriptionRef: string | null;
  readonly customerRef: string | null;
  readonly receiptUrl: string | null;
}

/** An invoice of a subscription: for its first period, a later one or a change. */
export interface InvoiceFact {
  readonly kind: 'invoice';
  readonly invoiceRef: string;
  readonly subscriptionRef: string;
  /** The reference of the checkout that created the subscription. */
  readonly reference: string;
  readonly state: 'paid' | 'failed';
  readonly reason: 'first' | 'renewal' | 'change';
  /** What was paid: 0 if a credit covers it. */
  readonly amountMinor: number;
  /** What a credit of the customer paid in addition, if the processor uses credits for a first invoice. */
  readonly creditMinor?: number;
  readonly currency: string;
  /** Null if there was nothing to pay. */
  readonly paymentRef: string | null;
  readonly number: string | null;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly receiptUrl: string | null;
}

/** The state of a subscription. */
export interface SubscriptionFact {
  readonly kind: 'subscription';
  readonly subscriptionRef: string;
  /** The reference of the checkout that created it. */
  readonly reference: string;
  /**
   * `past_due`: a payment failed and will be retried. `unpaid`: there are no more retries, but the subscription has not
   * ended. `pending`: never paid yet. `ended` is final.
   */
  readonly state: 'pending' | 'active' | 'past_due' | 'unpaid' | 'ended';
  /** Ours: which plan it pays for. */
  readonly productId: string;
  /** The price of a period. */
  readonly amountMinor: number;
  readonly currency: string;
  readonly customerRef: string | null;
  /** The end of the current period. */
  readonly periodEnd: Date;
  readonly cancelAtPeriodEnd: boolean;
  /** The time of this state by the processor's clock. Of two facts, the later one is valid. */
  readonly asOf: Date;
}

/** The total that was refunded of a payment. */
export interface RefundFact {
  readonly kind: 'refund';
  readonly paymentRef: string;
  readonly refundedMinor: number;
  readonly currency: string;
}

/** The payer's bank has reversed a payment, until a decision or permanently. */
export interface DisputeFact {
  readonly kind: 'dispute';
  readonly paymentRef: string;
  /** `won`: the money was returned to us. */
  readonly state: 'open' | 'won' | 'lost';
  readonly asOf: Date;
}

/** A statement of the processor about a payment or a subscription. */
export type PaymentFact = CheckoutFact | InvoiceFact | SubscriptionFact | RefundFact | DisputeFact;
