import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Random } from '../random.ts';
import type { MailMessage } from './mail-message.ts';
import type { Mailbox } from './mailbox.ts';

/** Sends mail. Contents are secret because of the links in them, and never appear in an error or a log. */
export interface MailSender {
  /** Whether mails are files on this machine. */
  readonly embedded: boolean;
  /**
   * Sends a mail. If it resolves, the server has accepted the mail; if it rejects, the server may still have accepted
   * it.
   * @param signal aborts the attempt
   * @throws MailRefusedError if a retry cannot succeed
   * @throws MailUnavailableError if a retry may succeed
   */
  send(message: MailMessage, signal?: AbortSignal): Promise<void>;
  /** Closes the connections: mails that are being sent fail. */
  close(): Promise<void>;
}

export interface MailSettings {
  /** `smtp://…` or `smtps://…`; undefined for the folder. */
  readonly smtpUrl: string | undefined;
  /** Where mails are written without an SMTP server; created with the first one. */
  readonly folder: string;
  /** The sender, called for each mail. */
  readonly from: () => Mailbox;
}

export interface MailSources {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}
