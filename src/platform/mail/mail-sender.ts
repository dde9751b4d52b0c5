import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Random } from '../random.ts';
import type { MailMessage } from './mail-message.ts';
import type { Mailbox } from './mailbox.ts';

/** Sends mail. Contents are secrets, for there may be links in them: they are in no error and in no log. */
export interface MailSender {
  /** Whether mails are files of this machine. */
  readonly embedded: boolean;
  /**
   * Sends a mail. When it resolves, the server has taken it; when it rejects, the server may have taken it all the same.
   * @param signal gives it up
   * @throws MailRefusedError when it is no use to try again
   * @throws MailUnavailableError when it is
   */
  send(message: MailMessage, signal?: AbortSignal): Promise<void>;
  /** Ends the connections: what is under way fails. */
  close(): Promise<void>;
}

export interface MailSettings {
  /** `smtp://…` or `smtps://…`; undefined for the folder. */
  readonly smtpUrl: string | undefined;
  /** Where mails are kept that are not sent; made when the first one comes. */
  readonly folder: string;
  /** Asked for each mail: whom it is from. */
  readonly from: () => Mailbox;
}

export interface MailSources {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}
