import { clearMailFiles } from './mail-files.ts';
import { checkMessage } from './mail-message.ts';
import type { MailSender, MailSettings, MailSources } from './mail-sender.ts';

export { MailRefusedError, MailUnavailableError } from './errors.ts';
export { checkMessage, type MailMessage } from './mail-message.ts';
export type { MailSender, MailSettings, MailSources } from './mail-sender.ts';

/** Sends mail and deletes old mail files. */
export interface Mail extends MailSender {
  /**
   * Deletes mails of the folder that were written before a time, even if a server sends the mails now.
   * @returns how many; fewer than the limit if none is left
   */
  clear(before: Date, limit: number): Promise<number>;
}

/**
 * Opens the mail sender: by an SMTP server, else into a folder. Uses neither yet, so the service starts even if they
 * are unavailable.
 * @throws StartupError if the address is not valid
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
