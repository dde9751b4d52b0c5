/** Why the processor refused a request, or why the service refused an event. */
export type PaymentsFault = 'signature' | 'account' | 'declined' | 'not_found' | 'amount' | 'invalid';

/** The payment processor refused a request, or an event is not from our account at the processor. */
export class PaymentsError extends Error {
  override readonly name = 'PaymentsError';
  readonly fault: PaymentsFault;

  constructor(fault: PaymentsFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** The processor cannot be reached or failed. */
export class PaymentsUnavailableError extends Error {
  override readonly name = 'PaymentsUnavailableError';
}
