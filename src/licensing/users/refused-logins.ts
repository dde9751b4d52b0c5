import type { Knex } from 'knex';
import type { Events } from '../../foundation/events/events.ts';
import type { Logger } from '../../platform/logger.ts';
import { startPeriodicTask } from '../../platform/periodic-task.ts';

const COLLECTED_FOR_MS = 5_000;
const RECORDED_AT_ONCE = 500;
/** How many events one node collects at once. */
const MOST_EVENTS = 10_000;
/** How many events of one application name a user at once: thousands of guesses must not be thousands of webhooks. */
const MOST_WITH_USER = 10;

export interface RefusedLogin {
  readonly appId: string;
  /** The code of the error. */
  readonly code: string;
  /** Undefined if the user is unknown. */
  readonly userId: string | undefined;
}

interface Collected extends RefusedLogin {
  readonly amount: number;
}

/** Records refused logins as events, a few seconds later and many as one, so that refusing costs nothing more. */
export interface RefusedLogins {
  /** Counts one in memory. @param refused at an application that exists */
  note(refused: RefusedLogin): void;
  /** Records what is collected, after a call in progress. Those that cannot be recorded stay collected. */
  flush(): Promise<void>;
  /** Starts to record. @returns stops it once everything is recorded */
  start(): { stop(): Promise<void> };
}

interface Dependencies {
  readonly knex: Knex;
  readonly events: Pick<Events, 'record'>;
  readonly logger: Logger;
}

export function createRefusedLogins({ knex, events, logger }: Dependencies): RefusedLogins {
  let collected = new Map<string, Collected>();
  /** By application. */
  let withUser = new Map<string, number>();
  let dropped = 0;
  let flushing = Promise.resolve();

  function add(refused: Collected): void {
    const { appId, code, userId, amount } = refused;
    const key = [appId, code, userId].join(' ');
    const before = collected.get(key);
    if (before) return void collected.set(key, { ...before, amount: before.amount + amount });
    const named = withUser.get(appId) ?? 0;
    if (userId !== undefined && named >= MOST_WITH_USER) return add({ ...refused, userId: undefined });
    if (collected.size >= MOST_EVENTS) return void (dropped += amount);
    if (userId !== undefined) withUser.set(appId, named + 1);
    collected.set(key, refused);
  }

  async function record(some: readonly Collected[]): Promise<void> {
    const changes = some.map(({ appId, userId, code, amount }) => ({
      type: 'login.refused' as const,
      appId,
      userId,
      data: { code, amount },
    }));
    await knex.transaction((trx) => events.record(trx, ...changes));
  }

  function flush(): Promise<void> {
    flushing = flushing.catch(() => {}).then(recordAll);
    return flushing;
  }

  async function recordAll(): Promise<void> {
    const waiting = [...collected.values()];
    collected = new Map();
    withUser = new Map();
    if (dropped > 0) logger.warn({ dropped }, 'refused logins were too many to record');
    dropped = 0;
    for (let start = 0; start < waiting.length; start += RECORDED_AT_ONCE) {
      try {
        await record(waiting.slice(start, start + RECORDED_AT_ONCE));
      } catch (error) {
        waiting.slice(start).forEach(add);
        throw error;
      }
    }
  }

  return {
    note: (refused) => add({ ...refused, amount: 1 }),
    flush,

    start() {
      const logFailure = (error: unknown) =>
        logger.warn({ err: error }, 'refused logins could not be recorded');
      const work = async () => {
        await flush();
        return false;
      };
      const task = startPeriodicTask(work, logFailure, { intervalMs: COLLECTED_FOR_MS });
      return {
        async stop() {
          await task.stop();
          await flush().catch(logFailure);
        },
      };
    },
  };
}
