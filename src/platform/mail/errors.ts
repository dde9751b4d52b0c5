/** The mail cannot be sent now, but maybe later: the server or the folder is unavailable, full or denies access. */
export class MailUnavailableError extends Error {
  override name = 'MailUnavailableError';
}

/** The mail can never be sent: it is not valid, or the server refuses its recipient or its content. */
export class MailRefusedError extends Error {
  override name = 'MailRefusedError';
}
