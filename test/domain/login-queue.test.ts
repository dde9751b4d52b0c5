import { setImmediate as nextIteration } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLoginQueue } from '../../src/licensing/users/login-queue.ts';
import { SECOND, TestClock } from '../support/clock.ts';

const REFUSAL = { code: 'TOO_MANY_REQUESTS', detail: 'Too many logins are waiting.', retryAfter: 1 };

/** A queue, and logins that last until `finish` is called. */
function start() {
  const clock = new TestClock();
  const queue = createLoginQueue(clock);
  const { promise: finish, resolve } = Promise.withResolvers<void>();
  const started: string[] = [];
  const login = (account: string) =>
    queue.run(account, async () => {
      started.push(account);
      await finish;
    });
  const logins = (amount: number, account: (n: number) => string) =>
    Array.from({ length: amount }, (_, n) => login(account(n)));
  return { clock, queue, started, login, logins, finish: resolve };
}

test('the queue of an account is full at 32 logins, and does not fill others', async () => {
  const { queue, logins, finish } = start();
  const waiting = logins(31, () => 'one');
  queue.assertCapacity('one');
  waiting.push(...logins(1, () => 'one'));
  expect(() => queue.assertCapacity('one')).toThrow(expect.objectContaining(REFUSAL));
  queue.assertCapacity('other');
  finish();
  await Promise.all(waiting);
  queue.assertCapacity('one');
});

test('a login of another account does not wait for a full queue', async () => {
  const { started, logins, login, finish } = start();
  const waiting = logins(32, () => 'one');
  waiting.push(login('other'));
  await expect.poll(() => started).toEqual(['one', 'one', 'other']);
  finish();
  await Promise.all(waiting);
});

test('four logins run at once, and 128 may wait', async () => {
  const { queue, started, logins, finish } = start();
  const waiting = logins(131, (n) => `account ${n}`);
  await expect.poll(() => started.length).toBe(4);
  queue.assertCapacity('another');
  waiting.push(...logins(1, () => 'the last'));
  await nextIteration();
  expect(() => queue.assertCapacity('another')).toThrow(expect.objectContaining(REFUSAL));
  expect(started).toHaveLength(4);
  finish();
  await Promise.all(waiting);
  queue.assertCapacity('another');
});

test('a login that has waited for more than a second is refused', async () => {
  const { clock, started, logins, login, finish } = start();
  const first = logins(2, () => 'one');
  const late = expect(login('one')).rejects.toMatchObject(REFUSAL);
  await expect.poll(() => started.length).toBe(2);
  clock.advance(1);
  const inTime = login('one');
  clock.advance(SECOND);
  finish();
  await Promise.all([...first, inTime]);
  await late;
  expect(started).toEqual(['one', 'one', 'one']);
});
