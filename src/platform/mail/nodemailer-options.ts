import type { SendMailOptions } from 'nodemailer';
import type { MailMessage } from './mail-message.ts';
import type { Mailbox } from './mailbox.ts';

/** A mail as nodemailer takes it. */
export function toNodemailer(
  { to, subject, text, html, id }: MailMessage,
  from: Mailbox,
  now: Date,
): SendMailOptions {
  return {
    from,
    // As an object: a text would be read as a list of addresses.
    to: { name: '', address: to },
    subject,
    text,
    ...(html !== undefined && { html }),
    ...(id !== undefined && {
      messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    }),
    date: now,
    // Holiday notes and the like need not answer (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
