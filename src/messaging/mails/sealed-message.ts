import type { Keyring } from '../../platform/keyring.ts';
import type { MailMessage } from '../../platform/mail/index.ts';

/** The purpose of a mail. */
export type MailKind = 'agent-claim' | 'password-reset' | 'password-changed';

/** A mail in the queue. Mails of older versions have neither a kind nor the expiry of their links. */
export interface WaitingMessage extends MailMessage {
  readonly kind?: MailKind;
  /** Null for a mail without a link that grants access. */
  readonly linkEndsAt?: string | null;
}

/** A mail is sealed under its id, so that a row copied over another one is not sent. */
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
