import { caseFolding } from '../../../generated/case-folding.ts';
import { lookalikes } from '../../../generated/lookalikes.ts';
import { visibleIdentifier, visibleName } from '../../../generated/name-characters.ts';

const ASCII = /^[\x20-\x7e]*$/;
/** Marks that belong to one script. */
const MARK_OF_A_SCRIPT = /^[\p{M}--[\p{Script=Inherited}\p{Script=Common}]]$/v;
const MARK = /^\p{M}$/u;
const DOT_ABOVE = '\u0307';
/** Dotless i and j with a dot, which are i and j. */
const DOTTED = /[\u0131\u0237](?=\p{M}{0,4}\u0307)/gu;
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;

/** The fault of a text that is not a visible name, as the end of a sentence. */
export const NAME_FAULT =
  'must have a visible character, no control, invisible, private-use, or unassigned characters, and at most 4 marks ' +
  'on one character';

/** The fault of a text that is not a visible identifier, as the end of a sentence. */
export const IDENTIFIER_FAULT =
  'must have a visible character, no control, format, invisible, private-use, or unassigned characters, and at most ' +
  '4 marks on one character';

/**
 * Whether people can read a text as a name (format `visible-name` of the contract). New names must pass;
 * existing names that do not stay valid.
 */
export function isVisibleName(text: string): boolean {
  return visibleName.test(text);
}

/**
 * The same for text that is typed and compared, which also must not contain joiners or emoji selectors
 * (`visible-identifier`).
 */
export function isVisibleIdentifier(text: string): boolean {
  return visibleIdentifier.test(text);
}

/** A name for display: the fallback if the name itself is not visible. */
export function displayName(name: string, fallback: string): string {
  return visibleName.test(name) ? name : fallback;
}

/**
 * The form in which names are compared regardless of case, width and composition: compatibility caseless
 * matching (Unicode Standard, section 3.13, D146) in composed form. Folding is idempotent.
 */
export function foldedName(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return fold(fold(text.normalize('NFD')).normalize('NFKC')).normalize('NFKC');
}

/**
 * The form in which names are compared by their appearance (UTS #39): folded, without ignorable characters,
 * with white space collapsed and trimmed. Letters of other scripts and of phonetic notation, punctuation,
 * digits and symbols are replaced by the ASCII character that they look like. ASCII digits and letters stay
 * distinct, and so do letters of one script: `user1` and `userl` are two names, but `admin` and `аdmin` with
 * a Cyrillic а are the same.
 */
export function lookalikeForm(text: string): string {
  const plain = ASCII.test(text) ? text : toAsciiLookalikes(text.normalize('NFKD').replace(IGNORABLE, ''));
  return foldedName(plain).replace(/\s+/gu, ' ').trim();
}

/** @param text decomposed, without ignorable characters */
function toAsciiLookalikes(text: string): string {
  let plain = '';
  let base = '';
  for (const character of text.replace(DOTTED, (letter) => (letter === '\u0131' ? 'i' : 'j'))) {
    if (!MARK.test(character)) base = character;
    else if (isUnseen(character, base)) continue;
    plain += lookalikes.get(character) ?? character;
  }
  return plain;
}

/**
 * Whether a mark is invisible on a character: the dot of an i, and marks of other scripts on ASCII, which
 * many fonts omit.
 */
function isUnseen(mark: string, base: string): boolean {
  if (mark === DOT_ABOVE) return /^[ij]$/i.test(lookalikes.get(base) ?? base);
  return MARK_OF_A_SCRIPT.test(mark) && ASCII.test(base);
}

/**
 * Finds names that people could mistake for each other.
 * @param names in their given order
 * @returns each name that looks like an earlier one, with that earlier one
 */
export function findLookalikes(names: readonly string[]): { readonly name: string; readonly like: string }[] {
  const byForm = new Map<string, string>();
  const found: { name: string; like: string }[] = [];
  for (const name of names) {
    const forms = new Set([foldedName(name).trim(), lookalikeForm(name)]);
    const like = [...forms].map((form) => byForm.get(form)).find((other) => other !== undefined);
    if (like !== undefined) found.push({ name, like });
    for (const form of forms) if (!byForm.has(form)) byForm.set(form, name);
  }
  return found;
}

/** Full case folding (CaseFolding.txt, statuses C and F), the same for every language. */
function fold(text: string): string {
  let folded = '';
  for (const character of text) folded += caseFolding.get(character.codePointAt(0)!) ?? character;
  return folded;
}
