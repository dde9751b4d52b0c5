import type pg from 'pg';
import { systemTimer, type Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { StartupError } from '../startup-error.ts';

const SAMPLED_EVERY_MS = 10_000;
const CHECKED_EVERY_MS = 1_000;
const FIRST_SAMPLES = 3;
/** By how much the machine's clock may jump against its timer before the database is queried at once. */
const JUMP_MS = 500;
/** Smaller steps back are waited out. */
const STEP_BACK_MS = 1_000;
/** Larger differences are logged. */
export const SKEW_LIMIT_MS = 5_000;

/** The database's clock, shared by all nodes, continued by this machine's timer between two queries. */
export interface DatabaseClock extends Clock {
  /** How far the machine's own clock is ahead, in milliseconds; negative if it is behind. */
  skewMs(): number;
  stop(): void;
}

interface Dependencies {
  readonly pool: Pick<pg.Pool, 'query'>;
  readonly logger: Logger;
  /** The machine's own clock. */
  readonly machine: Clock;
  /** Milliseconds on a monotonic timer. */
  readonly timer?: () => number;
}

/** @throws StartupError if the first query fails; after later failures the last offset stays in use */
export async function openDatabaseClock({
  pool,
  logger,
  machine,
  timer = systemTimer,
}: Dependencies): Promise<DatabaseClock> {
  /** The database's time when the timer was at 0. */
  let began = Number.NaN;
  let last = 0;
  let sampledAt = 0;
  let machineBegan = 0;
  let sampling = false;
  let warned = false;

  async function sample(): Promise<{ readonly began: number; readonly error: number }> {
    const before = timer();
    const { rows } = await pool.query<{ ms: number }>({
      name: 'database-time',
      text: 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
    });
    const error = (timer() - before) / 2;
    return { began: rows[0]!.ms - before - error, error };
  }

  function take(taken: { readonly began: number; readonly error: number }): void {
    // A difference within the round trip to the database counts as none.
    if (!(Math.abs(taken.began - began) <= taken.error)) {
      if (Math.abs(taken.began - began) > JUMP_MS) {
        logger.warn({ ms: Math.round(taken.began - began) }, "the database's clock has jumped");
      }
      began = taken.began;
    }
    sampledAt = timer();
    machineBegan = machine.now().getTime() - sampledAt;
  }

  function logSkew(): void {
    const skewed = Math.abs(skewMs()) > SKEW_LIMIT_MS;
    if (skewed === warned) return;
    warned = skewed;
    const fields = { ms: Math.round(skewMs()) };
    if (skewed)
      logger.warn(fields, "this machine's clock differs from the database's clock, which the service uses");
    else logger.info(fields, "this machine's clock agrees with the database's clock again");
  }

  const now = () => {
    const time = began + timer();
    if (time > last || last - time > STEP_BACK_MS) last = time;
    return new Date(last);
  };
  const skewMs = () => machine.now().getTime() - (began + timer());

  const samples = [];
  try {
    for (let count = 0; count < FIRST_SAMPLES; count += 1) samples.push(await sample());
  } catch (cause) {
    throw new StartupError(
      'The database does not respond within 2 seconds, the time limit of every statement.',
      {
        cause,
      },
    );
  }
  take(samples.reduce((best, each) => (each.error < best.error ? each : best)));
  logSkew();

  const checking = setInterval(() => {
    const jumped = Math.abs(machine.now().getTime() - timer() - machineBegan) > JUMP_MS;
    if (sampling || (!jumped && timer() - sampledAt < SAMPLED_EVERY_MS)) return;
    sampling = true;
    sample()
      .then((taken) => {
        take(taken);
        logSkew();
      })
      .catch((error: unknown) => logger.debug({ err: error }, 'the time of the database is unknown'))
      .finally(() => (sampling = false));
  }, CHECKED_EVERY_MS);
  checking.unref();
  return { now, skewMs, stop: () => clearInterval(checking) };
}
