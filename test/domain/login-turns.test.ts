import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLoginTurns } from '../../src/users/login-turns.ts';
import { SECOND, TestClock } from '../support/clock.ts';

const REFUSAL = { code: 'TOO_MANY_REQUESTS', detail: 'Too many logins are waiting.', retryAfter: 1 };

/** Turns, and logins that last until they are let go. */
function start() {
  const clock = new TestClock();
  const turns = createLoginTurns(clock);
  const { promise: letGo, resolve } = Promise.withResolvers<void>();
  const begun: string[] = [];
  const login = (account: string) =>
    turns.take(account, async () => {
      begun.push(account);
      await letGo;
    });
  const logins = (amount: number, account: (n: number) => string) =>
    Array.from({ length: amount }, (_, n) => login(account(n)));
  return { clock, turns, begun, login, logins, letGo: resolve };
}

test('the line of an account is full at 32, those of others are not', async () => {
  const { turns, logins, letGo } = start();
  const waiting = logins(31, () => 'one');
  turns.assertRoom('one');
  waiting.push(...logins(1, () => 'one'));
  expect(() => turns.assertRoom('one')).toThrow(expect.objectContaining(REFUSAL));
  turns.assertRoom('other');
  letGo();
  await Promise.all(waiting);
  turns.assertRoom('one');
});

test('a login of another account does not wait behind a full line', async () => {
  const { begun, logins, login, letGo } = start();
  const waiting = logins(32, () => 'one');
  waiting.push(login('other'));
  await expect.poll(() => begun).toEqual(['one', 'one', 'other']);
  letGo();
  await Promise.all(waiting);
});

test('four begin at once, and 128 may be next', async () => {
  const { turns, begun, logins, letGo } = start();
  const waiting = logins(131, (n) => `account ${n}`);
  await expect.poll(() => begun.length).toBe(4);
  turns.assertRoom('another');
  waiting.push(...logins(1, () => 'the last'));
  await nextTurn();
  expect(() => turns.assertRoom('another')).toThrow(expect.objectContaining(REFUSAL));
  expect(begun).toHaveLength(4);
  letGo();
  await Promise.all(waiting);
  turns.assertRoom('another');
});

test('who has waited for more than a second is refused when his turn comes', async () => {
  const { clock, begun, logins, login, letGo } = start();
  const first = logins(2, () => 'one');
  const late = expect(login('one')).rejects.toMatchObject(REFUSAL);
  await expect.poll(() => begun.length).toBe(2);
  clock.advance(1);
  const inTime = login('one');
  clock.advance(SECOND);
  letGo();
  await Promise.all([...first, inTime]);
  await late;
  expect(begun).toEqual(['one', 'one', 'one']);
});
