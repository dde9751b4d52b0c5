import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeyring, UnknownMasterKeyError } from '../../src/platform/keyring.ts';
import { systemRandom } from '../../src/platform/random.ts';

const [first, second] = [randomBytes(32), randomBytes(32)];
const secret = Buffer.from('a secret');

test('a sealed value opens in its own context only', () => {
  const keyring = createKeyring([first], systemRandom);
  const sealed = keyring.seal(secret, 'application-secret:app_1');
  expect(keyring.open(sealed, 'application-secret:app_1')).toEqual(secret);
  expect(() => keyring.open(sealed, 'application-secret:app_2')).toThrow();
});

test('no byte can be changed', () => {
  const keyring = createKeyring([first], systemRandom);
  const sealed = keyring.seal(secret, 'context');
  for (let place = 0; place < sealed.length; place += 1) {
    const altered = Buffer.from(sealed);
    altered[place]! ^= 1;
    expect(() => keyring.open(altered, 'context'), `byte ${place}`).toThrow();
  }
  expect(() => keyring.open(sealed.subarray(0, 10), 'context')).toThrow();
});

test('a rotated master key opens what the old one sealed, and a removed one does not', () => {
  const sealed = createKeyring([first], systemRandom).seal(secret, 'context');
  expect(createKeyring([second, first], systemRandom).open(sealed, 'context')).toEqual(secret);
  expect(() => createKeyring([second], systemRandom).open(sealed, 'context')).toThrow(UnknownMasterKeyError);
});

test('equal values are sealed differently', () => {
  const keyring = createKeyring([first], systemRandom);
  expect(keyring.seal(secret, 'context')).not.toEqual(keyring.seal(secret, 'context'));
});
