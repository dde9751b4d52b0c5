import { caseFolding } from '../../generated/case-folding.ts';
import { lookalikes } from '../../generated/lookalikes.ts';
import { visibleIdentifier, visibleName } from '../../generated/name-characters.ts';

const ASCII = /^[\x20-\x7e]*$/;
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;

/** What is wrong with a text that is no name, as the end of a sentence about it. */
export const NAME_FAULT =
  'must be readable: at least one visible character, and no control, invisible, private-use or unassigned characters';

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
 * space for every run of white space and none at the ends, and with letters of other scripts and of phonetic notation as
 * the letter of ASCII that they look like (UTS #39). Digits and letters of ASCII stay apart, and so do letters of one script:
 * `user1` and `userl` are two names, `admin` and `аdmin` with a Cyrillic а are one.
 */
export function lookOfName(text: string): string {
  let plain = text;
  if (!ASCII.test(text)) {
    plain = '';
    for (const character of text.normalize('NFKD').replace(IGNORABLE, '')) {
      plain += lookalikes.get(character) ?? character;
    }
  }
  return foldedName(plain).replace(/\s+/gu, ' ').trim();
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
