/** How long a claim is open. */
export const CLAIM_MS = 24 * 60 * 60 * 1000;
/** How long a code is valid. */
export const CODE_MS = 10 * 60 * 1000;
export const CODE_DIGITS = 6;
/** The number of wrong attempts that invalidates a code. */
export const CODE_TRIES = 5;
/** The most mails for one claim. */
export const MAILS = 5;
/** How long until the same mail can be sent again. */
export const MAIL_PAUSE_MS = 60 * 1000;

export type ClaimState = 'open' | 'claimed' | 'rejected' | 'expired';

interface Claim {
  readonly expires_at: Date;
  readonly completed_at: Date | null;
  readonly rejected_at: Date | null;
}

/** The present state of a claim. */
export function claimState(claim: Claim, now: Date): ClaimState {
  if (claim.completed_at) return 'claimed';
  if (claim.rejected_at) return 'rejected';
  return claim.expires_at <= now ? 'expired' : 'open';
}

interface Code {
  readonly otp_digest: Uint8Array | null;
  readonly otp_expires_at: Date | null;
  readonly otp_failures: number;
}

/** Whether a claim has a code that is valid now. */
export function isCodeLive({ otp_digest, otp_expires_at, otp_failures }: Code, now: Date): boolean {
  return otp_digest !== null && otp_expires_at !== null && otp_expires_at > now && otp_failures < CODE_TRIES;
}

/** A code as a person writes it, without the characters between its digits. */
export function readCode(text: string): string {
  return text.replace(/[\s-]/g, '');
}

/**
 * A code from random bytes.
 * @param bytes 8 of them, so that the bias of the division is below one in 10^13
 */
export function codeFrom(bytes: Buffer): string {
  return String(bytes.readBigUInt64BE() % 10n ** BigInt(CODE_DIGITS)).padStart(CODE_DIGITS, '0');
}

interface Mailed {
  readonly email: string | null;
  readonly mails: number;
  readonly mailed_at: Date | null;
  readonly view_digest: Uint8Array | null;
}

/**
 * Whether a claim that is begun, or begun again, sends a mail: `sent` when the same one was sent just before.
 */
export function mailDue(claim: Mailed, email: string, now: Date): 'send' | 'sent' | 'too_many' {
  const { mailed_at: mailedAt, mails } = claim;
  const isSame = claim.email?.toLowerCase() === email.toLowerCase();
  if (isSame && mailedAt && now.getTime() - mailedAt.getTime() < MAIL_PAUSE_MS) return 'sent';
  return mails >= MAILS ? 'too_many' : 'send';
}
