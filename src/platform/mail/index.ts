import { clearMailFiles } from './mail-files.ts';
import { checkMessage } from './mail-message.ts';
import type { MailSender, MailSettings, MailSources } from './mail-sender.ts';

export { MailRefusedError, MailUnavailableError } from './errors.ts';
export { checkMessage, type MailMessage } from './mail-message.ts';
export type { MailSender, MailSettings, MailSources } from './mail-sender.ts';

/** Sends mail, and looks after what it keeps itself. */
export interface Mail extends MailSender {
  /**
   * Deletes mails of the folder that were written before a time, also where mails are sent by a server by now.
   * @returns how many; fewer than the limit when none is left
   */
  clear(before: Date, limit: number): Promise<number>;
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
