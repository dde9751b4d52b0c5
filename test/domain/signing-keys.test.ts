import { describe, expect, test } from 'vitest';
import type { Actor } from '../../src/foundation/audit/audit.ts';
import {
  isDue,
  publishedKeys,
  type SigningAlg,
} from '../../src/foundation/signing-keys/signing-key-state.ts';
import { startTestService } from '../support/service.ts';

const START = new Date('2026-11-21T10:00:00.000Z');
const after = (minutes: number) => new Date(START.getTime() + minutes * 60_000);
const key = (keyId: string, minutes: number, alg: SigningAlg = 'ES256') => ({
  keyId,
  alg,
  activeFrom: after(minutes),
});
const states = (keys: ReturnType<typeof key>[], at: number) =>
  publishedKeys(keys, after(at)).map(({ keyId, state }) => `${keyId} ${state}`);

describe('the use of keys', () => {
  const keys = [key('a', 0), key('b', 10), key('r', 0, 'RS256')];
  const DAY = 25 * 60;

  test.each([
    [0, ['b pending', 'a signing', 'r signing']],
    [10, ['b signing', 'a retired', 'r signing']],
    [10 + DAY - 1, ['b signing', 'a retired', 'r signing']],
    [10 + DAY, ['b signing', 'r signing']],
  ])('after %i minutes', (at, expected) => {
    expect(states(keys, at)).toEqual(expected);
  });

  test('a key is replaced ninety days after the newest one was created', () => {
    const days = (count: number) => count * 24 * 60;
    expect(isDue(keys, after(days(90)))).toBe(false);
    expect(isDue(keys, after(days(90) + 10))).toBe(true);
  });
});

test('old keys are rotated and deleted automatically', async () => {
  const { services, clock } = await startTestService({}, { housekeeping: false });
  const { signingKeys } = services;
  const [first] = signingKeys.published();
  expect(await signingKeys.maintain()).toBe(0);
  clock.advance(91 * 86_400_000);
  expect(await signingKeys.maintain()).toBe(1);
  expect(signingKeys.published().map(({ state }) => state)).toEqual(['pending', 'signing']);
  clock.advance(26 * 3_600_000);
  expect(signingKeys.published().map(({ keyId }) => keyId)).not.toContain(first!.keyId);
  expect(await signingKeys.maintain()).toBe(1);
  expect(await signingKeys.maintain()).toBe(0);
});

test('the removal of a key on one node takes effect on others at once', async () => {
  const one = await startTestService();
  const other = await startTestService({ DATABASE_URL: one.databaseUrl });
  const [removed] = one.services.signingKeys.published();
  const { keyId } = removed!;
  const actor = { kind: 'administrator', id: 'administrator', developerId: 'administrator', address: '::1' };
  await one.services.signingKeys.remove(actor as Actor, keyId);
  const { signingKeys } = other.services;
  // Without an event, it looks every 15 seconds.
  await expect.poll(() => signingKeys.isTrusted(keyId)).toBe(false);
  expect(signingKeys.published()).toEqual(one.services.signingKeys.published());
});

test('two nodes that create the same key concurrently create one', async () => {
  const one = await startTestService();
  const { databaseUrl: DATABASE_URL } = one;
  const other = await startTestService({ DATABASE_URL });
  await Promise.all([one, other].map(({ services }) => services.signingKeys.ensure('RS256')));
  const [ids, others] = [one, other].map(({ services }) =>
    services.signingKeys.published().map(({ keyId }) => keyId),
  );
  expect(ids).toEqual(others);
  expect(ids!.length).toBe(2);
});
