import { MailRefusedError } from './errors.ts';
import { isHeaderText, isMailAddress } from './mailbox.ts';

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

/** @throws MailRefusedError when a message can never be sent; whatever got into its head would be a header of its own */
export function checkMessage({ to, subject, id = '' }: MailMessage): void {
  if (!isMailAddress(to)) throw new MailRefusedError('The recipient is not a mail address');
  if (!isHeaderText(subject) || subject.length > LONGEST_SUBJECT) {
    throw new MailRefusedError('The subject is not one line of text');
  }
  if (!/^\w*$/.test(id)) throw new MailRefusedError('The id is not one');
}
