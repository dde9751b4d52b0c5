import { MailRefusedError } from './errors.ts';
import { isHeaderText, isMailAddress } from './mailbox.ts';

const LONGEST_SUBJECT = 500;

/** A mail to one recipient. */
export interface MailMessage {
  /** The bare address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same text as HTML. */
  readonly html?: string;
  /** The id of a mail that may be sent more than once, by which the receiver detects duplicates. */
  readonly id?: string;
}

/** Prevents header injection. @throws MailRefusedError for a message that can never be sent */
export function checkMessage({ to, subject, id = '' }: MailMessage): void {
  if (!isMailAddress(to)) throw new MailRefusedError('The recipient is not a mail address');
  if (!isHeaderText(subject) || subject.length > LONGEST_SUBJECT) {
    throw new MailRefusedError('The subject is not one line of text');
  }
  if (!/^\w*$/.test(id)) throw new MailRefusedError('The id is not valid');
}
