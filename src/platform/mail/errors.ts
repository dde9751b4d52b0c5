/** The mail was not taken just now, and may be later: the mail server or the folder is away, full, or does not let us in. */
export class MailUnavailableError extends Error {
  override name = 'MailUnavailableError';
}

/** The mail will never be taken: it is no mail that can be sent, or the server refuses its recipient or its content. */
export class MailRefusedError extends Error {
  override name = 'MailRefusedError';
}
