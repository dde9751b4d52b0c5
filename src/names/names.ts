import { caseFolding } from '../../generated/case-folding.ts';
import { lookalikes } from '../../generated/lookalikes.ts';
import { visibleIdentifier, visibleName } from '../../generated/name-characters.ts';

const ASCII = /^[\x20-\x7e]*$/;
/** Marks that belong to one script. */
const MARK_OF_A_SCRIPT = /^[\p{M}--[\p{Script=Inherited}\p{Script=Common}]]$/v;
const MARK = /^\p{M}$/u;
const DOT_ABOVE = '\u0307';
/** Dotless i and j with a dot, which are i and j. */
const DOTTED = /[\u0131\u0237](?=\p{M}{0,4}\u0307)/gu;
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;

/** What is wrong with a text that is no name, as the end of a sentence about it. */
export const NAME_FAULT =
  'must be readable: at least one visible character, and no control, invisible, private-use or unassigned characters and no more than 4 marks on one character';

/** What is wrong with a text that is no identifier, as the end of a sentence about it. */
export const IDENTIFIER_FAULT =
  'must be visible, and must not contain characters that stand for others or more than 4 marks on one character';

/**
 * Whether people can read a text as a name (format `visible-name` of the contract). New names must be; names from before the
 * rule stay in use.
 */
export function isVisibleName(text: string): boolean {
  return visibleName.test(text);
}

/** The same for what is typed and compared, where joiners and emoji selectors are refused too (`visible-identifier`). */
export function isVisibleIdentifier(text: string): boolean {
  return visibleIdentifier.test(text);
}

/** A name to show: the fallback in place of one that shows nothing. */
export function shownName(name: string, fallback: string): string {
  return visibleName.test(name) ? name : fallback;
}

/**
 * The form in which names are compared without regard to case, width and composition: compatibility caseless matching
 * (Unicode Standard, section 3.13, D146) in composed form. The folded form of a folded form is itself.
 */
export function foldedName(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return fold(fold(text.normalize('NFD')).normalize('NFKC')).normalize('NFKC');
}

/**
 * The form in which names are compared by how they look: folded, without joiners and other ignorable characters, with one
 * space for every run of white space and none at the ends, and with letters of other scripts and of phonetic notation, and
 * punctuation, digits and symbols, as the character of ASCII that they look like (UTS #39). Digits and letters of ASCII stay
 * apart, and so do letters of one script: `user1` and `userl` are two names, `admin` and `аdmin` with a Cyrillic а are one.
 */
export function lookOfName(text: string): string {
  const plain = ASCII.test(text) ? text : plainOf(text.normalize('NFKD').replace(IGNORABLE, ''));
  return foldedName(plain).replace(/\s+/gu, ' ').trim();
}

/** @param text decomposed, without ignorable characters */
function plainOf(text: string): string {
  let plain = '';
  let base = '';
  for (const character of text.replace(DOTTED, (letter) => (letter === '\u0131' ? 'i' : 'j'))) {
    if (!MARK.test(character)) base = character;
    else if (isUnseen(character, base)) continue;
    plain += lookalikes.get(character) ?? character;
  }
  return plain;
}

/** Whether a mark shows nothing on a character: the dot of an i, and marks of other scripts on ASCII, which many fonts leave out. */
function isUnseen(mark: string, base: string): boolean {
  if (mark === DOT_ABOVE) return /^[ij]$/i.test(lookalikes.get(base) ?? base);
  return MARK_OF_A_SCRIPT.test(mark) && ASCII.test(base);
}

/**
 * Finds two names that people would take for the same one.
 * @param names in the order in which they were given
 * @returns each that is like an earlier one, with that earlier one
 */
export function alikeNames(names: readonly string[]): { readonly name: string; readonly like: string }[] {
  const byForm = new Map<string, string>();
  const found: { name: string; like: string }[] = [];
  for (const name of names) {
    const forms = new Set([foldedName(name).trim(), lookOfName(name)]);
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
