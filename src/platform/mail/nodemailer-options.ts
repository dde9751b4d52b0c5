import type { SendMailOptions } from 'nodemailer';
import type { MailMessage } from './mail-message.ts';
import type { Mailbox } from './mailbox.ts';

/** A mail as options of nodemailer. */
export function toNodemailer(
  { to, subject, text, html, id }: MailMessage,
  from: Mailbox,
  now: Date,
): SendMailOptions {
  return {
    from,
    // An object, because nodemailer reads a text as a list of addresses.
    to: { name: '', address: to },
    subject,
    text,
    ...(html !== undefined && { html }),
    ...(id !== undefined && {
      messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    }),
    date: now,
    // Prevents automatic replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
