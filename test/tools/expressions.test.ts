import { describe, expect, test } from 'vitest';
import { builtBy, expressionsOf } from '../../tools/expressions/read.ts';
import { superLinear } from '../../tools/expressions/verdict.ts';

describe('finds regular expressions that are not linear', () => {
  test.each([
    ['every position of a dot is tried', String.raw`^[!-~]+@[!-~]+\.[!-~]+$`, ''],
    ['two parts match the same blanks', '^Payment(?: +(.*?))? *$', 'is'],
    ['a new attempt at each quote', String.raw`"(?:[^"\\]|\\.)*"\s*:`, 'g'],
    ['one in itself', '^(a+)+$', ''],
    ['two overlapping Unicode classes', String.raw`^\p{L}+\p{Lu}*!$`, 'u'],
    ['a new attempt at each position', ' +$', ''],
  ])('%s', (_, source, flags) => {
    expect(superLinear(source, flags)).toBeDefined();
  });

  test.each([
    ['a class', '^[a-z]+$', ''],
    ['parts that do not overlap', String.raw`^[a-z]+(?:-[a-z]+)*$`, ''],
    ['a limited repetition', '^.{1,64}$', 'su'],
    ['a set of the flag v', String.raw`^[\p{L}--[a-z]]+$`, 'v'],
    ['without a repetition', '=|<', ''],
  ])('but linear ones are not: %s', (_, source, flags) => {
    expect(superLinear(source, flags)).toBeUndefined();
  });
});

test('finds literals, calls with constants, and expressions that are built', () => {
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

test('records expressions that a module builds when it loads', () => {
  const texts = ['x+'];
  expect(builtBy(() => texts.map((text) => new RegExp(text, 'u')))).toEqual([{ source: 'x+', flags: 'u' }]);
});
