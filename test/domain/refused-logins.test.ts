import { expect, test } from 'vitest';
import type { Knex } from 'knex';
import type { Change } from '../../src/foundation/events/events.ts';
import { createRefusedLogins } from '../../src/licensing/users/refused-logins.ts';
import { collectLog } from '../support/collected-log.ts';

/** A collector without a database, and what it records. */
function newCollector() {
  const recorded: Change[][] = [];
  const faults: Error[] = [];
  const { logger, lines } = collectLog('warn');
  const knex = {
    transaction: (work: (trx: unknown) => Promise<void>) => work({}),
  } as unknown as Knex;
  const events = {
    async record(_trx: unknown, ...changes: readonly Change[]) {
      const fault = faults.shift();
      if (fault) throw fault;
      recorded.push([...changes]);
    },
  };
  return { refused: createRefusedLogins({ knex, events, logger }), recorded, faults, lines };
}

const CODE = 'INVALID_CREDENTIALS';
const amounts = (changes: readonly Change[]) =>
  changes.reduce((sum, { data }) => sum + (data!['amount'] as number), 0);

test('many refusals are one event for each application, code and user', async () => {
  const { refused, recorded } = newCollector();
  for (let n = 0; n < 1000; n += 1) refused.note({ appId: 'app_a', code: CODE, userId: 'usr_1' });
  refused.note({ appId: 'app_a', code: CODE, userId: undefined });
  refused.note({ appId: 'app_a', code: 'HWID_MISMATCH', userId: 'usr_1' });
  refused.note({ appId: 'app_b', code: CODE, userId: undefined });
  await refused.flush();
  const type = 'login.refused';
  expect(recorded).toEqual([
    [
      { type, appId: 'app_a', userId: 'usr_1', data: { code: CODE, amount: 1000 } },
      { type, appId: 'app_a', userId: undefined, data: { code: CODE, amount: 1 } },
      { type, appId: 'app_a', userId: 'usr_1', data: { code: 'HWID_MISMATCH', amount: 1 } },
      { type, appId: 'app_b', userId: undefined, data: { code: CODE, amount: 1 } },
    ],
  ]);
  await refused.flush();
  expect(recorded).toHaveLength(1);
});

test('guesses at thousands of users are eleven events, and none is lost', async () => {
  const { refused, recorded } = newCollector();
  for (let n = 0; n < 5000; n += 1) refused.note({ appId: 'app_a', code: CODE, userId: `usr_${n}` });
  refused.note({ appId: 'app_b', code: CODE, userId: 'usr_x' });
  await refused.flush();
  const [changes] = recorded;
  const ofFirst = changes!.filter(({ appId }) => appId === 'app_a');
  expect(ofFirst).toHaveLength(11);
  expect(amounts(ofFirst)).toBe(5000);
  expect(ofFirst.filter(({ userId }) => userId === undefined)).toHaveLength(1);
  // It does not use up the share of another application, nor of the next time.
  expect(changes!.find(({ appId }) => appId === 'app_b')!.userId).toBe('usr_x');
  refused.note({ appId: 'app_a', code: CODE, userId: 'usr_y' });
  await refused.flush();
  expect(recorded[1]![0]!.userId).toBe('usr_y');
});

test('at most 10,000 events are collected, in transactions of 500; those beyond are logged', async () => {
  const { refused, recorded, lines } = newCollector();
  for (let n = 0; n < 12_000; n += 1) refused.note({ appId: `app_${n}`, code: CODE, userId: undefined });
  refused.note({ appId: 'app_0', code: CODE, userId: undefined });
  await refused.flush();
  expect(recorded.map((changes) => changes.length)).toEqual(Array<number>(20).fill(500));
  expect(amounts(recorded.flat())).toBe(10_001);
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { dropped: 2000, msg: 'refused logins were too many to record' },
  ]);
});

test('what could not be recorded is recorded later, with what was refused meanwhile', async () => {
  const { refused, recorded, faults } = newCollector();
  for (let n = 0; n < 600; n += 1) refused.note({ appId: `app_${n}`, code: CODE, userId: 'usr_1' });
  faults.push(new Error('no database'));
  await expect(refused.flush()).rejects.toThrow('no database');
  expect(recorded).toEqual([]);
  refused.note({ appId: 'app_599', code: CODE, userId: 'usr_1' });
  await refused.flush();
  expect(recorded.map((changes) => changes.length)).toEqual([500, 100]);
  expect(amounts(recorded.flat())).toBe(601);
});

test('stopping records what is collected; a failure then is only logged', async () => {
  const { refused, recorded, faults, lines } = newCollector();
  const started = refused.start();
  refused.note({ appId: 'app_a', code: CODE, userId: undefined });
  await started.stop();
  expect(recorded).toHaveLength(1);
  const again = refused.start();
  refused.note({ appId: 'app_a', code: CODE, userId: undefined });
  faults.push(new Error('no database'), new Error('no database'));
  await again.stop();
  expect(lines.join('')).toContain('refused logins could not be recorded');
});
