import { invalidMember } from '../../foundation/errors/api-error.ts';
import {
  foldedName,
  IDENTIFIER_FAULT,
  isVisibleIdentifier,
  lookalikeForm,
} from '../../foundation/names/names.ts';

const MAX_CHARACTERS = 64;

/** Characters that were never allowed in a username: lookups refuse them. */
const UNSTORABLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/**
 * The form in which usernames are compared: folded (`foldedName`) and trimmed. Two usernames belong to the same account
 * exactly if their keys are equal; the key of a key is the key itself.
 * @param username as entered
 * @throws ApiError VALIDATION_FAILED at /username if it contains characters that cannot be distinguished by sight, or
 *   if the key is empty or longer than 64 characters
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
    throw invalidMember('/username', `must have 1 to ${MAX_CHARACTERS} characters after normalization`);
  }
  return key;
}

/** The forms of a username that no other user of the application may have. */
export interface NewUsername {
  readonly username: string;
  readonly username_key: string;
  /** Its visual form (`lookOfName`) if it differs from its key. */
  readonly username_look: string | null;
}

/**
 * The names of a new account.
 * @throws ApiError VALIDATION_FAILED at /username as usernameKey does, and if the username is not visible
 */
export function newUsername(username: string): NewUsername {
  const key = usernameKey(username);
  if (!isVisibleIdentifier(username)) {
    throw invalidMember('/username', IDENTIFIER_FAULT);
  }
  const look = lookalikeForm(username);
  return { username, username_key: key, username_look: look === key ? null : look };
}

/** The form for searching by the beginning of a username: like usernameKey, of any length. */
export function usernamePrefix(beginning: string): string {
  return foldedName(beginning).trimStart();
}
