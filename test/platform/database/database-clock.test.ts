import { afterEach, describe, expect, test, vi } from 'vitest';
import { openDatabaseClock, type DatabaseClock } from '../../../src/platform/database/database-clock.ts';
import type { Logger } from '../../../src/platform/logger.ts';
import { StartupError } from '../../../src/platform/startup-error.ts';

const SECOND = 1000;
const START = Date.parse('2026-11-21T10:00:00.000Z');

/** A simulated database, machine and timer. */
async function openWorld({ machineAhead = 0, respondsAfter = 0, away = false } = {}) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const world = { elapsed: 0, databaseAhead: 0, machineAhead, away };
  const lines: string[] = [];
  const tell = (_fields: object, line: string) => void lines.push(line);
  const logger = { warn: tell, info: tell, debug: () => {} } as unknown as Logger;
  const clock = await openDatabaseClock({
    pool: {
      query: async () => {
        if (world.away) throw new Error('away');
        world.elapsed += respondsAfter;
        return { rows: [{ ms: START + world.elapsed + world.databaseAhead }] };
      },
    } as never,
    logger,
    machine: { now: () => new Date(START + world.elapsed + world.machineAhead) },
    timer: () => world.elapsed,
  });
  opened.push(clock);
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= SECOND) {
      world.elapsed += Math.min(left, SECOND);
      await vi.advanceTimersByTimeAsync(Math.min(left, SECOND));
    }
  };
  return { clock, world, pass, lines };
}

const opened: DatabaseClock[] = [];
afterEach(() => {
  for (const clock of opened.splice(0)) clock.stop();
  vi.useRealTimers();
});

const at = (clock: DatabaseClock) => clock.now().getTime() - START;

describe('the time is the database’s', () => {
  test.each([0, 300 * SECOND, -300 * SECOND])('on a machine that is %d ms ahead', async (machineAhead) => {
    const { clock, pass } = await openWorld({ machineAhead });
    expect(at(clock)).toBe(0);
    expect(clock.skewMs()).toBe(machineAhead);
    await pass(3 * SECOND);
    expect(at(clock)).toBe(3 * SECOND);
  });

  test('continued by the timer while the database is unavailable, unaffected by the machine’s clock', async () => {
    const { clock, world, pass } = await openWorld();
    world.away = true;
    world.machineAhead = -3600 * SECOND;
    await pass(60 * SECOND);
    expect(at(clock)).toBe(60 * SECOND);
    expect(clock.skewMs()).toBe(-3600 * SECOND);
  });

  test('queried again after 10 s, and at once when the machine’s clock jumps', async () => {
    const { clock, world, pass } = await openWorld();
    world.databaseAhead = 30 * SECOND;
    await pass(SECOND);
    expect(at(clock)).toBe(SECOND);
    world.machineAhead = 30 * SECOND;
    await pass(SECOND);
    expect(at(clock)).toBe(32 * SECOND);
    world.databaseAhead = 40 * SECOND;
    await pass(11 * SECOND);
    expect(at(clock)).toBe(53 * SECOND);
  });

  test('never slightly set back, and a difference within the round trip is ignored', async () => {
    const { clock, world, pass } = await openWorld({ respondsAfter: 40 });
    const before = at(clock);
    world.databaseAhead = -15;
    await pass(10 * SECOND);
    expect(at(clock) - before).toBeGreaterThanOrEqual(10 * SECOND);
    world.databaseAhead = -700;
    const still = at(clock);
    await pass(SECOND);
    for (let count = 0; count < 20; count += 1) {
      const one = at(clock);
      await pass(SECOND);
      expect(at(clock)).toBeGreaterThanOrEqual(one);
    }
    expect(at(clock)).toBeGreaterThan(still);
  });
});

test('a difference of more than 5 s and its end are logged once each', async () => {
  const { world, pass, lines } = await openWorld({ machineAhead: 4 * SECOND });
  expect(lines).toEqual([]);
  world.machineAhead = 300 * SECOND;
  await pass(30 * SECOND);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('differs from the database');
  world.machineAhead = 0;
  await pass(30 * SECOND);
  expect(lines).toHaveLength(2);
});

test('a start without a response fails in one line', async () => {
  await expect(openWorld({ away: true })).rejects.toThrow(StartupError);
});
