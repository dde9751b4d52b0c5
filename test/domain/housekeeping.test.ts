import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startHousekeeping } from '../../src/app/housekeeping.ts';
import type { Services } from '../../src/services.ts';

type Part = () => Promise<unknown>;

/** Services that have nothing to clear, except for some methods, such as `sessions.clearExpired`. */
function servicesWith(parts: Readonly<Record<string, Part>>): Services {
  const all: Record<string, Part> = { 'applications.nextDeleted': async () => undefined, ...parts };
  const serviceOf = (service: string) =>
    new Proxy({}, { get: (_, method) => all[`${service}.${String(method)}`] ?? (async () => 0) });
  return new Proxy({}, { get: (_, service) => serviceOf(String(service)) }) as Services;
}

/** Runs housekeeping until the test ends. */
function runHousekeeping(parts: Readonly<Record<string, Part>>, pauseMs?: number) {
  const lines: { chore: string; rows?: number; err?: Error }[] = [];
  const log = (line: (typeof lines)[number]) => void lines.push(line);
  const logger = { info: log, warn: log } as never;
  const { stop } = startHousekeeping(servicesWith(parts), logger, pauseMs);
  onTestFinished(stop);
  return { lines, stop };
}

test('chores run in rotation, and each reports once what it has cleared', async () => {
  const done: string[] = [];
  const chore = (name: string, parts: number[]) => async () => {
    done.push(name);
    return parts.shift() ?? 0;
  };
  const { lines } = runHousekeeping({
    'sessions.clearExpired': chore('sessions', [1000, 1000, 7]),
    'signatures.clearExpired': chore('nonces', [1000]),
    'events.clearExpired': chore('events', [5, 5]),
    'limits.clearExpired': chore('limits', []),
  });
  await expect.poll(() => lines).toHaveLength(3);
  expect(done.join(' ')).toBe(
    'sessions nonces events limits sessions nonces events sessions events sessions',
  );
  expect(lines).toEqual([
    { chore: 'expired nonces', rows: 1000 },
    { chore: 'expired events', rows: 10 },
    { chore: 'expired sessions', rows: 2007 },
  ]);
});

test('other chores run again after the pause even if one does not end', async () => {
  let requested = 0;
  let cleared = 0;
  const { lines } = runHousekeeping(
    {
      'sessions.clearExpired': async () => {
        requested += 1;
        return 0;
      },
      'applications.nextDeleted': async () => {
        await turn();
        return requested < 3 ? 'app_1' : undefined;
      },
      'users.clearOf': async () => {
        cleared += 1;
        return 1;
      },
    },
    1,
  );
  await expect.poll(() => lines).toHaveLength(1);
  expect(cleared).toBeGreaterThan(0);
  expect(lines).toEqual([{ chore: 'deleted applications', rows: cleared }]);
});

test('a failed chore reports what it had cleared, waits for the pause and does not delay others', async () => {
  const err = new Error('the database is unavailable');
  const responses = [10, err, 10];
  const nonces = [1, 1];
  const { lines } = runHousekeeping({
    'sessions.clearExpired': async () => {
      const response = responses.shift() ?? 0;
      if (response instanceof Error) throw response;
      return response;
    },
    'signatures.clearExpired': async () => nonces.shift() ?? 0,
  });
  await expect.poll(() => lines).toHaveLength(3);
  expect(lines).toEqual([
    { chore: 'expired sessions', err },
    { chore: 'expired sessions', rows: 10 },
    { chore: 'expired nonces', rows: 2 },
  ]);
  expect(responses).toEqual([10]);
});

test('housekeeping stops after the current part, and reports what was cleared until then', async () => {
  const part = Promise.withResolvers<number>();
  let parts = 0;
  const { lines, stop } = runHousekeeping({
    'sessions.clearExpired': () => {
      parts += 1;
      return part.promise;
    },
  });
  const stopped = stop();
  part.resolve(1000);
  await stopped;
  expect(parts).toBe(1);
  expect(lines).toEqual([{ chore: 'expired sessions', rows: 1000 }]);
});
