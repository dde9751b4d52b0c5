import { invalidMember } from '../errors/api-error.ts';
import { foldedName, IDENTIFIER_FAULT, isVisibleIdentifier, lookOfName } from '../names/names.ts';

const MAX_CHARACTERS = 64;

/** What could never be in a username: lookups refuse it as they always have. */
const UNSTORABLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/**
 * The form in which usernames are compared: folded (`foldedName`), with white space trimmed at both ends. Two usernames are
 * the same account exactly when their keys are equal; the key of a key is itself.
 * @param username as the user wrote it
 * @throws ApiError VALIDATION_FAILED at /username when it holds characters that cannot be told apart by sight, or
 *   when the key is empty or longer than 64 characters
 */
export function usernameKey(username: string): string {
  if (UNSTORABLE.test(username)) {
    throw invalidMember(
      '/username',
      'must not contain control, format, zero-width, private-use or unassigned characters',
    );
  }
  const key = foldedName(username).trim();
  const characters = [...key].length;
  if (characters < 1 || characters > MAX_CHARACTERS) {
    throw invalidMember('/username', `must have 1 to ${MAX_CHARACTERS} characters after normalisation`);
  }
  return key;
}

/** The forms of a username that no other user of the application may have. */
export interface NewUsername {
  readonly username: string;
  readonly username_key: string;
  /** What it looks like (`lookOfName`), where that is not its key. */
  readonly username_look: string | null;
}

/**
 * A username for a new account.
 * @throws ApiError VALIDATION_FAILED at /username as usernameKey does, and when it is not visible
 */
export function newUsername(username: string): NewUsername {
  const key = usernameKey(username);
  if (!isVisibleIdentifier(username)) {
    throw invalidMember('/username', IDENTIFIER_FAULT);
  }
  const look = lookOfName(username);
  return { username, username_key: key, username_look: look === key ? null : look };
}

/** The form in which the beginning of a username is looked for: that of whole ones, of any length. */
export function usernamePrefix(beginning: string): string {
  return foldedName(beginning).trimStart();
}
