import type pg from 'pg';
import { systemTimer, type Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { StartupError } from '../startup-error.ts';

const SAMPLED_EVERY_MS = 10_000;
const LOOKED_EVERY_MS = 1_000;
const FIRST_SAMPLES = 3;
/** By how much the machine's clock may leap against its timer before the database is asked at once. */
const LEAP_MS = 500;
/** A step back of less is waited out. */
const STEP_BACK_MS = 1_000;
/** From when on a difference is worth a word. */
export const SKEW_LIMIT_MS = 5_000;

/** The database's clock, which all nodes have in common, carried on by this machine's timer between two looks at it. */
export interface DatabaseClock extends Clock {
  /** How far the machine's own clock is ahead, in milliseconds; negative when it is behind. */
  skewMs(): number;
  stop(): void;
}

interface Dependencies {
  readonly pool: Pick<pg.Pool, 'query'>;
  readonly logger: Logger;
  /** What the machine takes the time to be. */
  readonly machine: Clock;
  /** Milliseconds on a timer that only goes forward. */
  readonly timer?: () => number;
}

/** @throws StartupError when the database does not answer the first time; later the last offset holds */
export async function openDatabaseClock({
  pool,
  logger,
  machine,
  timer = systemTimer,
}: Dependencies): Promise<DatabaseClock> {
  /** What the database's clock said when the timer began. */
  let began = Number.NaN;
  let last = 0;
  let sampledAt = 0;
  let machineBegan = 0;
  let asking = false;
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
    // What the way to the database and back explains is no difference.
    if (!(Math.abs(taken.began - began) <= taken.error)) {
      if (Math.abs(taken.began - began) > LEAP_MS) {
        logger.warn({ ms: Math.round(taken.began - began) }, "the database's clock has leapt");
      }
      began = taken.began;
    }
    sampledAt = timer();
    machineBegan = machine.now().getTime() - sampledAt;
  }

  function tellSkew(): void {
    const skewed = Math.abs(skewMs()) > SKEW_LIMIT_MS;
    if (skewed === warned) return;
    warned = skewed;
    const fields = { ms: Math.round(skewMs()) };
    if (skewed) logger.warn(fields, "this machine's clock differs from the database's, which is used");
    else logger.info(fields, "this machine's clock agrees with the database's again");
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
    throw new StartupError('The database does not answer within 2 seconds, which every statement has.', {
      cause,
    });
  }
  take(samples.reduce((best, each) => (each.error < best.error ? each : best)));
  tellSkew();

  const looking = setInterval(() => {
    const leapt = Math.abs(machine.now().getTime() - timer() - machineBegan) > LEAP_MS;
    if (asking || (!leapt && timer() - sampledAt < SAMPLED_EVERY_MS)) return;
    asking = true;
    sample()
      .then((taken) => {
        take(taken);
        tellSkew();
      })
      .catch((error: unknown) => logger.debug({ err: error }, 'the time of the database is not known'))
      .finally(() => (asking = false));
  }, LOOKED_EVERY_MS);
  looking.unref();
  return { now, skewMs, stop: () => clearInterval(looking) };
}
