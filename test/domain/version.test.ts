import { expect, test } from 'vitest';
import { isBelow } from '../../src/accounts/applications/version.ts';

test.each([
  ['1.4.0', '1.4.0', false],
  ['1.3.9', '1.4.0', true],
  ['1.10.0', '1.9.0', false],
  ['1.4', '1.4.0', false],
  ['2', '1.9.9', false],
  ['v1.4.0', '1.4.0', false],
  ['1.4.0-beta.1', '1.4.0', true],
  ['1.4.0+build.5', '1.4.0', false],
  ['1.4.0', '1.4', false],
  ['not a version', '0.0.0', true],
  ['1.4.0.1', '1.4.0', true],
  ['', '0', true],
])('%j below %j: %s', (version, minimum, expected) => {
  expect(isBelow(version, minimum)).toBe(expected);
});
