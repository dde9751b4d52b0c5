/** A product for sale. Amounts are in minor units of the currency. */
export interface Product {
  /** Ours: the id of a plan. */
  readonly productId: string;
  readonly name: string;
  readonly amountMinor: number;
  /** ISO 4217, in upper case. */
  readonly currency: string;
  /** How often it is paid; null for a single payment. */
  readonly recurring: 'monthly' | 'yearly' | null;
}

/** A purchase before it is paid. */
export interface Order {
  /** Ours (`chk_…`): every fact about the purchase and its subscription contains it as `reference`. */
  readonly reference: string;
  readonly product: Product;
  readonly customer: {
    /** Ours: the developer's id. */
    readonly reference: string;
    readonly email: string;
    /** The processor's id of the customer, if an earlier fact contained it. */
    readonly customerRef: string | null;
  };
  /** Where the payer is sent afterwards. */
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly expiresAt: Date;
}

/** A page where an order can be paid. */
export interface OpenedCheckout {
  /** The processor's id of the page. */
  readonly sessionRef: string;
  readonly url: string;
}
