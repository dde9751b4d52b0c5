import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { startPeriodicTask } from '../../platform/periodic-task.ts';

const WRITTEN_AFTER_MS = 10_000;
const EVERY_MS = 60_000;
const CAPACITY = 100_000;
const BATCH_SIZE = 1_000;
/** A fault that lasts is logged about once a minute. */
const FAILURES_PER_WARNING = EVERY_MS / WRITTEN_AFTER_MS;

/** The keys that were used, each with the time of its last use. */
export type Uses = ReadonlyMap<string, Date>;

/** Notes the last uses of one kind of thing. */
export interface LastUse {
  /** Remembers that a key is used now, only in memory. */
  note(key: string): void;
}

interface Options {
  /**
   * Writes the last uses of up to 1,000 keys in one statement. It must keep a newer time that is there, and lock rows
   * in one order or skip those that are locked, because other nodes write the same keys.
   */
  readonly write: (uses: Uses) => Promise<void>;
  /** How often this node writes, unless many keys wait. A minute by default. */
  readonly everyMs?: number;
  /** How many keys can wait to be written; uses of any more are lost. */
  readonly capacity?: number;
}

/** Writes last uses in the background, so that a use costs no statement. */
export interface LastUses {
  /** @param name of the thing, for the log */
  of(name: string, options: Options): LastUse;
  /** Writes what is due. */
  write(): Promise<void>;
  /** Writes everything now. */
  writeAll(): Promise<void>;
  /** Writes periodically. @returns stops that, and writes everything that is left */
  start(): { stop(): Promise<void> };
}

interface Dependencies {
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Recorder extends LastUse {
  /** @param everything also keys that were written a short time ago */
  flush(everything: boolean): Promise<void>;
}

/** Recorders of last uses, all written by one background task. */
export function createLastUses({ clock, logger }: Dependencies): LastUses {
  const recorders = new Map<string, Recorder>();
  /** Of each recorder, how often it has failed in a row. */
  const failures = new Map<string, number>();

  function report(name: string, error: unknown, isLast: boolean): void {
    // A single failure, such as a lost connection, has no effect.
    const inARow = (failures.get(name) ?? 0) + 1;
    failures.set(name, inARow);
    const context = { err: error, kind: name };
    const isLasting = inARow % FAILURES_PER_WARNING === 2;
    if (isLast) logger.warn(context, 'last uses could not be written and are lost');
    else if (isLasting) logger.warn(context, 'last uses could repeatedly not be written');
    else logger.debug(context, 'last uses could not be written and will be retried');
  }

  async function flush(everything: boolean, isLast = false): Promise<void> {
    for (const [name, recorder] of recorders) {
      try {
        await recorder.flush(everything);
        failures.delete(name);
      } catch (error) {
        report(name, error, isLast);
      }
    }
  }

  return {
    of(name, options) {
      const recorder = createRecorder(clock, options);
      recorders.set(name, recorder);
      return recorder;
    },

    write: () => flush(false),
    writeAll: () => flush(true),

    start() {
      const task = startPeriodicTask(
        async () => {
          await flush(false);
          return false;
        },
        () => {},
        { intervalMs: WRITTEN_AFTER_MS },
      );
      return {
        async stop() {
          await task.stop();
          await flush(true, true);
        },
      };
    },
  };
}

function createRecorder(clock: Clock, { write, everyMs = EVERY_MS, capacity = CAPACITY }: Options): Recorder {
  /** The last uses that are not written yet, in milliseconds. */
  const waiting = new Map<string, number>();
  let writtenAt = -Infinity;

  return {
    note(key) {
      if (waiting.size < capacity || waiting.has(key)) waiting.set(key, clock.now().getTime());
    },

    async flush(everything) {
      const now = clock.now().getTime();
      // More keys than usual are written sooner, so that others always fit.
      const isDue = writtenAt + everyMs <= now || waiting.size >= capacity / 2;
      if (!everything && !isDue) return;
      const all = [...waiting];
      for (let start = 0; start < all.length; start += BATCH_SIZE) {
        const batch = all.slice(start, start + BATCH_SIZE);
        await write(new Map(batch.map(([key, usedAt]) => [key, new Date(usedAt)])));
        for (const [key, usedAt] of batch) {
          // It may have been used again while the statement ran.
          if (waiting.get(key) === usedAt) waiting.delete(key);
        }
      }
      writtenAt = now;
    },
  };
}
