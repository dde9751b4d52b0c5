/** The broker does not accept or deliver messages: it is unreachable, does not respond, or refuses the connection. */
export class BrokerUnavailableError extends Error {
  override name = 'BrokerUnavailableError';

  /** @param cause why, if known */
  constructor(cause?: unknown) {
    super('The broker cannot be used', { cause });
  }
}
