/** A payment that a machine makes with a token of the processor, without a page: the `stripe` method of MPP, intent `charge`. */
export interface ChargeRequest {
  /** Ours: charging it again with the same one charges once. */
  readonly key: string;
  /** The token that the payer was given by the processor: a shared payment token. */
  readonly token: string;
  /** In base units of the currency: of USDC, millionths. */
  readonly amount: string;
  readonly currency: string;
  readonly description: string;
}

/** What was taken. */
export interface Charge {
  /** The processor's name of the payment. */
  readonly paymentRef: string;
  readonly paidAt: Date;
}
