import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createNewId } from '../ids.ts';
import { toNodemailer } from './compose.ts';
import { MailUnavailableError } from './errors.ts';
import type { MailSettings, MailSources, MailSender } from './index.ts';
import { mailFileName } from './mail-files.ts';

/** Mails as files of one folder, in the order of their names, for whoever runs the service on his own machine. */
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
      // It takes memory that most services with files for mails never need.
      const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
      const composed = new MailComposer({ ...toNodemailer(message, from(), now), newline: '\r\n' });
      const content = await composed.compile().build();
      const name = mailFileName(now, newId('mail'));
      const path = join(folder, name);
      // Written aside and moved into place: whoever looks into the folder sees whole mails alone.
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
