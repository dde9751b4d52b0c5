import { createHmac } from 'node:crypto';
import { Challenge } from 'mppx';
import { expect, test } from 'vitest';
import {
  createChallenge,
  serializeChallenge,
  verifyChallenge,
  type Challenge as OwnChallenge,
} from '../../src/commerce/machine-payments/challenge.ts';

const digestOf = (key: string) => (text: string) => createHmac('sha256', key).update(text).digest();
const terms = { amount: '1000', currency: 'USDC', description: 'For "agents" \\ and "no one" else.' };
const context = {
  realm: 'api.example.com',
  networkId: 'profile_1',
  now: new Date('2026-11-21T10:00:00.000Z'),
  nonce: Buffer.alloc(16, 7),
};
const challenge = createChallenge(terms, context, digestOf('key'));

test('can be parsed by the MPP library, which computes the same id from the key', () => {
  const read = Challenge.deserialize(serializeChallenge(challenge));
  expect(read).toMatchObject({
    id: challenge.id,
    realm: 'api.example.com',
    expires: '2026-11-21T10:05:00.000Z',
    opaque: challenge.opaque,
    description: terms.description,
    request: { ...terms, methodDetails: { networkId: 'profile_1', paymentMethodTypes: ['card'] } },
  });
  expect(Challenge.verify(read, { secretKey: 'key' })).toBe(true);
  expect(Challenge.verify(read, { secretKey: 'other' })).toBe(false);
});

test('returns its amount and expiry with its own key only', () => {
  const expiresAt = new Date('2026-11-21T10:05:00.000Z');
  expect(verifyChallenge(challenge, digestOf('key'))).toEqual({ terms, expiresAt });
  expect(verifyChallenge(challenge, digestOf('other'))).toBeUndefined();
});

test.each(Object.keys(challenge) as (keyof OwnChallenge)[])('is not valid with another %s', (name) => {
  for (const value of ['', `${challenge[name]}x`, challenge[name]!.slice(1)]) {
    expect(verifyChallenge({ ...challenge, [name]: value }, digestOf('key'))).toBeUndefined();
  }
});

test('is valid without its description, and invalid with a digest of a body', () => {
  const { description: _description, ...rest } = challenge;
  expect(verifyChallenge(rest, digestOf('key'))).toMatchObject({ terms });
  expect(verifyChallenge({ ...challenge, digest: 'sha-256=x' }, digestOf('key'))).toBeUndefined();
});
