import { invalidMember } from '../errors/api-error.ts';
import { caseFolding } from '../../generated/case-folding.ts';

const MAX_CHARACTERS = 64;

/** What cannot be seen or may change its meaning with the next version of Unicode. */
const UNSTORABLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/**
 * The form in which usernames are compared: compatibility caseless matching (Unicode Standard, section 3.13, D146) in
 * composed form, with white space trimmed at both ends. Two usernames are the same account exactly when their keys are
 * equal; normalising a key again gives the same key.
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
  const key = normalised(username).trim();
  const characters = [...key].length;
  if (characters < 1 || characters > MAX_CHARACTERS) {
    throw invalidMember('/username', `must have 1 to ${MAX_CHARACTERS} characters after normalisation`);
  }
  return key;
}

/** The form in which the beginning of a username is looked for: that of whole ones, of any length. */
export function usernamePrefix(beginning: string): string {
  return normalised(beginning).trimStart();
}

function normalised(text: string): string {
  return fold(fold(text.normalize('NFD')).normalize('NFKC')).normalize('NFKC');
}

/** Full case folding (CaseFolding.txt, statuses C and F), the same for every language. */
function fold(text: string): string {
  let folded = '';
  for (const character of text) folded += caseFolding.get(character.codePointAt(0)!) ?? character;
  return folded;
}
