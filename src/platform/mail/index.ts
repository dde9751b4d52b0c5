import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Random } from '../random.ts';
import { MailRefusedError } from './errors.ts';
import { clearMailFiles } from './mail-files.ts';
import { isHeaderText, isMailAddress, type Mailbox } from './mailbox.ts';

export { MailRefusedError, MailUnavailableError } from './errors.ts';

const LONGEST_SUBJECT = 500;

/** One mail to one person. */
export interface MailMessage {
  /** The bare address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same for those who read HTML. */
  readonly html?: string;
  /** Of a mail that may be sent more than once: by it the receiver knows that it is the same one. */
  readonly id?: string;
}

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

/** Sends mail, and looks after what it keeps itself. */
export interface Mail extends MailSender {
  /**
   * Deletes mails of the folder that were written before a time, also where mails are sent by a server by now.
   * @returns how many; fewer than the limit when none is left
   */
  clear(before: Date, limit: number): Promise<number>;
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

/**
 * Opens the sending of mail: by an SMTP server, else into a folder. Neither is asked for anything yet: the service starts
 * without it.
 * @throws StartupError when the address is not one of an SMTP server
 */
export async function openMail(settings: MailSettings, sources: MailSources): Promise<Mail> {
  const mail = await open(settings, sources);
  return {
    ...mail,
    async send(message, signal) {
      checkMessage(message);
      await mail.send(message, signal);
    },
    clear: (before, limit) => clearMailFiles(settings.folder, before, limit),
  };
}

async function open({ smtpUrl, folder, from }: MailSettings, sources: MailSources): Promise<MailSender> {
  if (smtpUrl === undefined) {
    const { openEmbeddedMail } = await import('./embedded.ts');
    return openEmbeddedMail({ folder, from }, sources);
  }
  const { openServerMail } = await import('./server.ts');
  return openServerMail({ smtpUrl, from }, sources);
}

/** @throws MailRefusedError when a message can never be sent; whatever got into its head would be a header of its own */
export function checkMessage({ to, subject, id = '' }: MailMessage): void {
  if (!isMailAddress(to)) throw new MailRefusedError('The recipient is not a mail address');
  if (!isHeaderText(subject) || subject.length > LONGEST_SUBJECT) {
    throw new MailRefusedError('The subject is not one line of text');
  }
  if (!/^\w*$/.test(id)) throw new MailRefusedError('The id is not one');
}
