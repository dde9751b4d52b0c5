/**
 * What has become of a checkout. `amountMinor` and `currency` are what was paid, as the processor says, to be compared with what
 * was asked for.
 */
export interface CheckoutFact {
  readonly kind: 'checkout';
  readonly sessionRef: string;
  readonly reference: string;
  /** `processing`: the bank takes its time. Only `paid` means that the money is ours. */
  readonly state: 'open' | 'processing' | 'paid' | 'failed' | 'expired';
  readonly amountMinor: number;
  readonly currency: string;
  /** The payment of a checkout that is paid once, and of the first period of a subscription where it is known. */
  readonly paymentRef: string | null;
  readonly subscriptionRef: string | null;
  readonly customerRef: string | null;
  readonly receiptUrl: string | null;
}

/** A bill of a subscription: of its first period, of a later one, or of a change. */
export interface InvoiceFact {
  readonly kind: 'invoice';
  readonly invoiceRef: string;
  readonly subscriptionRef: string;
  /** That of the checkout that the subscription came from. */
  readonly reference: string;
  readonly state: 'paid' | 'failed';
  readonly reason: 'first' | 'renewal' | 'change';
  /** What was paid: 0 where a credit covers it. */
  readonly amountMinor: number;
  /** What a credit of the customer covers beside that, where the processor takes one for a first bill. */
  readonly creditMinor?: number;
  readonly currency: string;
  /** Null when nothing was to be paid. */
  readonly paymentRef: string | null;
  readonly number: string | null;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly receiptUrl: string | null;
}

/** How a subscription is. */
export interface SubscriptionFact {
  readonly kind: 'subscription';
  readonly subscriptionRef: string;
  /** That of the checkout that it came from. */
  readonly reference: string;
  /**
   * `past_due`: a payment failed and is tried again. `unpaid`: it is not tried any more, and yet there is no end. `pending`: never
   * paid yet. `ended` is for ever.
   */
  readonly state: 'pending' | 'active' | 'past_due' | 'unpaid' | 'ended';
  /** Ours: which plan it pays for. */
  readonly productId: string;
  /** What a period costs. */
  readonly amountMinor: number;
  readonly currency: string;
  readonly customerRef: string | null;
  /** Of the period that is running. */
  readonly periodEnd: Date;
  readonly cancelAtPeriodEnd: boolean;
  /** When it was so, by the processor's clock: of two facts the later one counts. */
  readonly asOf: Date;
}

/** How much of a payment was given back, all together. */
export interface RefundFact {
  readonly kind: 'refund';
  readonly paymentRef: string;
  readonly refundedMinor: number;
  readonly currency: string;
}

/** The payer's bank has taken a payment back, for now or for good. */
export interface DisputeFact {
  readonly kind: 'dispute';
  readonly paymentRef: string;
  /** `won`: the money is ours again. */
  readonly state: 'open' | 'won' | 'lost';
  readonly asOf: Date;
}

/** Something that the processor says is so. */
export type PaymentFact = CheckoutFact | InvoiceFact | SubscriptionFact | RefundFact | DisputeFact;
