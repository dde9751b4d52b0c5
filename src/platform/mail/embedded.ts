import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createNewId } from '../ids.ts';
import { MailUnavailableError } from './errors.ts';
import { mailFileName } from './mail-files.ts';
import type { MailMessage } from './mail-message.ts';
import type { MailSender, MailSettings, MailSources } from './mail-sender.ts';
import { toNodemailer } from './nodemailer-options.ts';

const PLAIN_LINE = /^[\x20-\x7e]{0,998}$/;

/** Writes mails as files into a folder, in the order of their names, for developers who run the service locally. */
export function openEmbeddedMail(
  { folder, from }: Pick<MailSettings, 'folder' | 'from'>,
  { clock, random, logger }: MailSources,
): MailSender {
  const newId = createNewId(clock, random);

  return {
    embedded: true,

    async send(message, signal) {
      signal?.throwIfAborted();
      const now = clock.now();
      // Loaded with the first mail to save memory.
      const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
      const composed = new MailComposer({ ...toNodemailer(message, from(), now), newline: '\r\n' });
      const root = composed.compile();
      // Encoded as 7bit to keep long lines whole (RFC 5322, 2.1.1), because people copy links from the file.
      if (isPlain(message)) root.getTransferEncoding = () => '7bit';
      const content = await root.build();
      const name = mailFileName(now, newId('mail'));
      const path = join(folder, name);
      // Written to a draft and renamed, so that other programs see only complete mails in the folder.
      const draft = join(folder, `.${name}`);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const file = await open(draft, 'wx', 0o600);
        try {
          await file.writeFile(content);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true }).catch(() => {});
        const { code } = error as NodeJS.ErrnoException;
        throw new MailUnavailableError(`The mail cannot be written to ${folder} (${code})`);
      }
      logger.info({ to: message.to, subject: message.subject, path }, 'a mail was written to a file');
    },

    async close() {},
  };
}

/** Whether a mail is plain text in ASCII, with lines within the limit of RFC 5322. */
function isPlain({ text, html }: MailMessage): boolean {
  return html === undefined && text.split(/\r?\n/).every((line) => PLAIN_LINE.test(line));
}
