/** A payment by a program with a token of the processor, without a page: MPP's method `stripe`, intent `charge`. */
export interface ChargeRequest {
  /** Ours: an idempotency key, so that a repeated request charges once. */
  readonly key: string;
  /** A shared payment token, which the processor issued to the payer. */
  readonly token: string;
  /** In base units of the currency, such as millionths of USDC. */
  readonly amount: string;
  readonly currency: string;
  readonly description: string;
}

/** A machine payment that succeeded. */
export interface Charge {
  /** The processor's id of the payment. */
  readonly paymentRef: string;
  readonly paidAt: Date;
}
