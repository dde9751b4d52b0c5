import { describe, expect, test } from 'vitest';
import {
  findLookalikes,
  foldedName,
  isVisibleIdentifier,
  isVisibleName,
  lookalikeForm,
  displayName,
} from '../../src/foundation/names/names.ts';
import { JOINED, READABLE, UNREADABLE } from '../security/support/names.ts';

/** Every assigned character, and a sample of unassigned ones. */
const characters = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((character) => character.codePointAt(0)! % 997 === 0 || !/[\p{Cn}\p{Co}]/u.test(character));

describe('a name is visible', () => {
  test.each(UNREADABLE)('not %j', (name) => {
    expect(isVisibleName(name)).toBe(false);
    expect(isVisibleIdentifier(name)).toBe(false);
    expect(displayName(name, 'cli_1')).toBe('cli_1');
  });

  test.each(READABLE)('but %s', (name) => {
    expect(isVisibleName(name)).toBe(true);
    expect(isVisibleIdentifier(name)).toBe(true);
    expect(displayName(name, 'cli_1')).toBe(name);
  });

  test.each(JOINED)('and %s, which is not an identifier', (name) => {
    expect(isVisibleName(name)).toBe(true);
    expect(isVisibleIdentifier(name)).toBe(false);
  });

  test('every letter and digit is a name, and no ignorable character, space or mark is one', () => {
    const isNothing = /[\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}]/u;
    expect(characters.filter((each) => isNothing.test(each) && isVisibleName(each))).toEqual([]);
    const blank = ['\u2800', '\ufffc', '\ufffd', '\u{13441}', '\u{13442}', '\u{1d159}'];
    expect(characters.filter((each) => !isNothing.test(each) && !isVisibleName(each))).toEqual(blank);
  });

  test('of any length, in linear time', () => {
    expect(isVisibleName('\u0301'.repeat(1_000_000))).toBe(false);
    expect(isVisibleName(`${' '.repeat(1_000_000)}\ufffd`)).toBe(false);
    expect(isVisibleName(`${' '.repeat(1_000_000)}a`)).toBe(true);
  });
});

describe('names look the same', () => {
  test.each([
    ['case', 'Pro', 'PRO'],
    ['white space at the ends', 'Pro', 'Pro '],
    ['white space inside', 'Ada Lovelace', 'Ada\u00a0\u3000Lovelace'],
    ['composition', 'Caf\u00e9', 'Cafe\u0301'],
    ['width', 'Pro', 'Ｐｒｏ'],
    ['mathematical letters', 'admin', '𝒶𝒹𝓂𝒾𝓃'],
    ['a Cyrillic а', 'admin', 'аdmin'],
    ['a Greek omicron', 'root', 'rοοt'],
    ['a Cyrillic Р', 'Pro', 'Рro'],
    ['Cyrillic capitals', 'BOB', 'ВОВ'],
    ['a Cyrillic capital I', 'Ivan', 'Іvan'],
    ['a palochka', 'paypal', 'paypaӏ'],
    ['Cyrillic letters alone', 'cocox', 'сосох'],
    ['an accent on a Cyrillic letter', 'José', 'Jоsе\u0301'],
    ['a Latin letter among Cyrillic ones', 'Иван', 'Ивaн'],
    ['a Cherokee letter', 'Daniel', 'Ꭰaniel'],
    ['phonetic notation', 'google', 'ɡooɡle'],
    ['a joiner', 'Pro', 'P\u200dro'],
    ['a second dot on an i', 'admin', 'admi\u0307n'],
    ['a Turkish capital', 'admin', 'ADM\u0130N'],
    ['a dot on a dotless i', 'admin', 'adm\u0131\u0307n'],
    ['a dot on an i with another mark', 'adm\u1ecbn', 'admi\u0323\u0307n'],
    ['a dot on a Cyrillic j', 'jim', '\u0458\u0307im'],
    ['a Khmer mark on a Latin letter', 'admin', 'admin\u17d2'],
    ['a Brahmi number joiner on a Latin letter', 'admin', 'admin\u{1107f}'],
    ['a hyphen', 'john-doe', 'john\u2010doe'],
    ['a dash', 'john-doe', 'john\u2013doe'],
    ['a minus', 'john-doe', 'john\u2212doe'],
    ['an apostrophe', "o'brien", 'o\u2019brien'],
    ['a colon', 'a:b', 'a\u2236b'],
    ['a Bengali digit', 'user8', 'user\u09ea'],
    ['a symbol', 'admin', '\u237admin'],
    ['an emoji selector', '❤ Shop', '❤\ufe0f Shop'],
  ])('but for %s', (_what, one, other) => {
    expect(findLookalikes([one, other])).toEqual([{ name: other, like: one }]);
  });

  test.each([
    ['digits and letters', 'user1', 'userl'],
    ['zero and O', 'R0', 'RO'],
    ['m and rn', 'modern', 'modem'],
    ['a dotless i', 'irmak', 'ırmak'],
    ['an accent', 'jose', 'josé'],
    ['a stroke', 'lodz', 'łodz'],
    ['a space', 'rosalind', 'rosa lind'],
    ['Cyrillic letters of one alphabet', 'сух', 'сүх'],
    ['Hebrew letters', 'דו', 'דן'],
    ['Arabic digits', 'علي١', 'عليا'],
    ['Cherokee letters', 'ᏔᎵ', 'ᏓᎵ'],
    ['kana and Chinese characters', 'カ', '力'],
    ['scripts with other shapes', 'Иван', 'Ivan'],
    ['Arabic digits and letters', 'علي١', 'عليl'],
    ['an accent on an i', 'julia', 'jul\u00eda'],
    ['a dot on another letter', 'zlot', '\u017clot'],
    ['a vowel sign of Hindi', 'कि', 'क'],
    ['a stop and a hyphen', 'a.b', 'a-b'],
    ['й and и', 'Андрей', 'Андреи'],
  ])('but differ for %s', (_what, one, other) => {
    expect(findLookalikes([one, other])).toEqual([]);
  });

  test('and each looks like its own normalization forms', () => {
    const faults = characters.filter((character) => {
      const name = `x${character}y`;
      const look = lookalikeForm(name);
      return [name.normalize('NFC'), name.normalize('NFD'), ` ${name} `].some(
        (form) => lookalikeForm(form) !== look,
      );
    });
    expect(faults).toEqual([]);
  });

  test('letters of one script and case look different', () => {
    const scripts = ['Latin', 'Cyrillic', 'Greek', 'Hebrew', 'Arabic', 'Armenian', 'Cherokee', 'Georgian'];
    for (const script of scripts) {
      const isOf = new RegExp(`^[\\p{Script=${script}}&&\\p{L}]$`, 'v');
      const byLook = new Map<string, string>();
      const merged: string[] = [];
      for (const character of characters) {
        // Phonetic notation looks like basic letters, and İ is the capital of i.
        if (!isOf.test(character) || (script === 'Latin' && (character > '\u024f' || character === 'İ')))
          continue;
        const key = foldedName(character);
        const plain = character.normalize('NFKC');
        const look = `${lookalikeForm(character)} ${plain === plain.toLowerCase()}`;
        const other = byLook.get(look) ?? key;
        byLook.set(look, other);
        if (other !== key) merged.push(`${other} ${character}`);
      }
      expect(merged, script).toEqual([]);
    }
  });
});
