/** Something that is sold. Amounts are in minor units of the currency. */
export interface Product {
  /** Ours: the id of a plan. */
  readonly productId: string;
  readonly name: string;
  readonly amountMinor: number;
  /** ISO 4217, in upper case. */
  readonly currency: string;
  /** How often it is paid; null for once. */
  readonly recurring: 'monthly' | 'yearly' | null;
}

/** A purchase before it is paid. */
export interface Order {
  /** Ours (`chk_…`): comes back as `reference` in every fact about the purchase, and of a subscription that follows from it. */
  readonly reference: string;
  readonly product: Product;
  readonly customer: {
    /** Ours: the developer's id. */
    readonly reference: string;
    readonly email: string;
    /** The processor's own, where an earlier fact has told it. */
    readonly customerRef: string | null;
  };
  /** Where the payer goes afterwards. */
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly expiresAt: Date;
}

/** A page on which an order can be paid. */
export interface OpenedCheckout {
  /** The processor's name of it. */
  readonly sessionRef: string;
  readonly url: string;
}
