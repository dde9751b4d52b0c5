import { randomBytes } from 'node:crypto';
import { START_FLAGS } from '../tools/start-flags.ts';
import { startChild } from './child.ts';
import type { Contender, ContenderState } from './contenders/contender.ts';
import { createApp } from './create-app.ts';
import type { Population, Size } from './data.ts';
import { startPostgres, type Postgres } from './database.ts';
import type { Followers, FollowOrder, FollowResult } from './load/followers.ts';
import type { LoadGenerator, LoadOrder, LoadResult } from './load/generator.ts';
import type { Receiver, ReceiverOrder, ReceiverResult } from './load/receiver.ts';
import { seed } from './seed.ts';

/** A filled database and the servers on it. */
export interface Target {
  readonly databaseUrl: string;
  readonly population: Population;
  /** The stored hash of every user's password. */
  readonly passwordHash: string;
  readonly nodePg: Contender;
  readonly latchkey: Contender;
}

/** What all measurements share. */
export interface Stage {
  readonly postgres: Postgres;
  /** The server that has no database. */
  readonly bare: Contender;
  readonly generator: LoadGenerator;
  /** Makes a login storm next to the other load. */
  readonly stormGenerator: LoadGenerator;
  /** Starts a contender that needs no database. */
  openContender(name: 'aedes' | 'webhook-loop'): Contender;
  /** Starts a process of clients who follow events. */
  openFollowers(): Followers;
  /** Starts a process that receives webhooks. */
  openReceiver(): Receiver;
  /** Makes and fills a database, and starts servers on it. */
  openTarget(name: string, size: Size): Promise<Target>;
}

/** The service trusts the load generator as a proxy, has no rate limits, and reaches the webhook receiver. */
const SETTINGS = {
  TRUSTED_PROXIES: '127.0.0.1',
  RATE_LIMIT: '1000000000/60',
  WEBHOOK_NETWORKS: '127.0.0.0/8',
};

/**
 * Starts PostgreSQL, the contenders and the load generators, each a process of its own, and stops them when the work
 * is done or has failed.
 * @param stopped rejects when the work must end before its time
 */
export async function onStage(work: (stage: Stage) => Promise<void>, stopped: Promise<never>): Promise<void> {
  const closing: (() => Promise<void>)[] = [];
  let open = true;
  const closeAll = async () => {
    for (let close = closing.pop(); close; close = closing.pop()) await close();
  };
  const working = setUp((close) => {
    closing.push(close);
    if (!open) throw new Error('the bench has been stopped');
  }).then(work);
  try {
    await Promise.race([working, stopped]);
  } finally {
    open = false;
    await closeAll();
    // What was being started at that moment comes to its end as well.
    await working.catch(() => {});
    await closeAll();
  }
}

async function setUp(onClose: (close: () => Promise<void>) => void): Promise<Stage> {
  const masterKey = randomBytes(32);
  const postgres = await startPostgres();
  onClose(postgres.close);

  function start<Order, Result>(
    module: string,
    environment?: Record<string, string>,
    flags?: readonly string[],
  ) {
    const child = startChild<Order, Result>(new URL(module, import.meta.url), environment, flags);
    onClose(child.end);
    return child;
  }
  const contender = (name: string, environment?: Record<string, string>, flags?: readonly string[]) =>
    start<'state', ContenderState>(`contenders/${name}.ts`, environment, flags);
  const latchkey = (environment: Record<string, string>) => contender('latchkey', environment, START_FLAGS);
  const generator = () => start<LoadOrder, LoadResult>('load/generator.ts');

  return {
    postgres,
    bare: contender('bare'),
    generator: generator(),
    stormGenerator: generator(),
    openContender: (name) => contender(name),
    openFollowers: () => start<FollowOrder, FollowResult>('load/followers.ts'),
    openReceiver: () => start<ReceiverOrder, ReceiverResult>('load/receiver.ts'),
    async openTarget(name, size) {
      process.stderr.write(`seeding ${size.sessions.toLocaleString('en')} sessions\n`);
      const began = performance.now();
      const DATABASE_URL = await postgres.createDatabase(name);
      const environment = { ...SETTINGS, DATABASE_URL, MASTER_KEY: masterKey.toString('base64') };

      // It creates the schema and the application, and must not block the seeder.
      const first = latchkey(environment);
      const app = await createApp((await first.request('state')).port);
      await first.end();
      const population = { app, ...size };
      const passwordHash = await seed(DATABASE_URL, masterKey, population);

      process.stderr.write(`seeded in ${((performance.now() - began) / 1000).toFixed(1)} s\n`);
      const nodePg = contender('node-pg', { DATABASE_URL });
      return {
        databaseUrl: DATABASE_URL,
        population,
        passwordHash,
        nodePg,
        latchkey: latchkey(environment),
      };
    },
  };
}
