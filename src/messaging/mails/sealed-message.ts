import type { Keyring } from '../../platform/keyring.ts';
import type { MailMessage } from '../../platform/mail/index.ts';

/** What a mail is about. */
export type MailKind = 'agent-claim' | 'password-reset' | 'password-changed';

/** A mail as it waits. Mails of older versions say neither what they are about nor until when their links work. */
export interface WaitingMessage extends MailMessage {
  readonly kind?: MailKind;
  /** Null when there is no link in it that lets anybody in. */
  readonly linkEndsAt?: string | null;
}

/** A mail is opened as the one that it was sealed as: a row that was copied over another one is not sent. */
export function contextOf(id: string): string {
  return `mail:${id}`;
}

/** @returns the payload of the mail's job */
export function sealMessage(keyring: Keyring, id: string, message: WaitingMessage): string {
  return keyring.seal(Buffer.from(JSON.stringify(message)), contextOf(id)).toString('base64');
}

export function openMessage(keyring: Keyring, id: string, payload: string): WaitingMessage {
  const sealed = Buffer.from(payload, 'base64');
  return JSON.parse(keyring.open(sealed, contextOf(id)).toString()) as WaitingMessage;
}
