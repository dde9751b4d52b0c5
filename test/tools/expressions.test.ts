import { describe, expect, test } from 'vitest';
import { builtBy, expressionsOf } from '../../tools/expressions/read.ts';
import { superLinear } from '../../tools/expressions/verdict.ts';

describe('expressions that are not linear are found', () => {
  test.each([
    ['one that tries each place of a dot', String.raw`^[!-~]+@[!-~]+\.[!-~]+$`, ''],
    ['two that trade blanks', '^Payment(?: +(.*?))? *$', 'is'],
    ['one that is tried again at each quote', String.raw`"(?:[^"\\]|\\.)*"\s*:`, 'g'],
    ['one in itself', '^(a+)+$', ''],
    ['two of a class of Unicode', String.raw`^\p{L}+\p{Lu}*!$`, 'u'],
    ['one that is tried again at each place', ' +$', ''],
  ])('%s', (_, source, flags) => {
    expect(superLinear(source, flags)).toBeDefined();
  });

  test.each([
    ['a class', '^[a-z]+$', ''],
    ['parts that cannot trade', String.raw`^[a-z]+(?:-[a-z]+)*$`, ''],
    ['a limited repetition', '^.{1,64}$', 'su'],
    ['a set of the flag v', String.raw`^[\p{L}--[a-z]]+$`, 'v'],
    ['without a repetition', '=|<', ''],
  ])('but linear ones are not: %s', (_, source, flags) => {
    expect(superLinear(source, flags)).toBeUndefined();
  });
});

test('expressions are found as literals, as calls with constants, and where they are built', () => {
  const { expressions, built } = expressionsOf(
    'x.ts',
    "const a = /a+/g; new RegExp('b' + '+', 'u'); RegExp(`c`); new RegExp(a + b); const o = { d: /d/ };",
  );
  expect(expressions.map(({ source, flags }) => `/${source}/${flags}`)).toEqual([
    '/a+/g',
    '/b+/u',
    '/c/',
    '/d/',
  ]);
  expect(expressions.at(-1)).toMatchObject({ member: 'd', place: 'x.ts:1' });
  expect(built).toEqual(['x.ts: a + b']);
});

test('expressions that a module builds as it loads are noted', () => {
  const texts = ['x+'];
  expect(builtBy(() => texts.map((text) => new RegExp(text, 'u')))).toEqual([{ source: 'x+', flags: 'u' }]);
});
