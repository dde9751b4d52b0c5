import type { PasswordState } from '../../foundation/passwords/passwords.ts';
import type { Ban } from '../bans/bans.ts';
import type { Subscription } from '../subscriptions/subscriptions.ts';

/** A user as the developer sees them. */
export interface UserRecord {
  readonly userId: string;
  readonly username: string;
  readonly email: string | null;
  readonly role: string;
  readonly passwordState: PasswordState;
  readonly hwidBound: boolean;
  /** When the user last reset their own machine. */
  readonly hwidResetAt: Date | null;
  readonly subscription: Subscription;
  readonly liveSessions: number;
  /** The ban in force; if there are several, the last one. */
  readonly ban: Ban | null;
  readonly createdAt: Date;
}
