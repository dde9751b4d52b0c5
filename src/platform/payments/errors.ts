/** Why the processor, or what came in its name, was refused. */
export type PaymentsFault = 'signature' | 'account' | 'declined' | 'not_found' | 'amount' | 'invalid';

/** A payment processor refuses, or something is not its own. */
export class PaymentsError extends Error {
  override readonly name = 'PaymentsError';
  readonly fault: PaymentsFault;

  constructor(fault: PaymentsFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** The processor cannot be reached, or fails. */
export class PaymentsUnavailableError extends Error {
  override readonly name = 'PaymentsUnavailableError';
}
