/** The broker does not take or pass on messages just now: it is away, does not answer, or refuses us. */
export class BrokerUnavailableError extends Error {
  override name = 'BrokerUnavailableError';

  /** @param cause why, where it was asked */
  constructor(cause?: unknown) {
    super('The broker cannot be used', { cause });
  }
}
