/** A reason not to start that the operator can act on; `message` is one line, shown as it is and without a stack. */
export class StartupError extends Error {
  override name = 'StartupError';

  /** @param message what is wrong and what to do; line breaks are folded into spaces */
  constructor(message: string, options?: ErrorOptions) {
    const lines = message.split(/[\r\n]/).map((line) => line.trim());
    super(lines.filter((line) => line !== '').join(' '), options);
  }
}
