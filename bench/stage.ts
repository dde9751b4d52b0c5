import { randomBytes } from 'node:crypto';
import { startChild } from './child.ts';
import type { Contender, ContenderState } from './contenders/contender.ts';
import { createApp } from './create-app.ts';
import { SESSIONS, type App } from './data.ts';
import { startDatabase, type BenchDatabase } from './database.ts';
import type { LoadGenerator, LoadOrder, LoadResult } from './load/generator.ts';
import { seed } from './seed.ts';

/** Everything that a measurement needs, started and filled. */
export interface Stage {
  readonly database: BenchDatabase;
  readonly contenders: { readonly bare: Contender; readonly nodePg: Contender; readonly latchkey: Contender };
  readonly generator: LoadGenerator;
  readonly app: App;
  /** The stored hash of every user's password. */
  readonly passwordHash: string;
}

/**
 * Starts PostgreSQL, the contenders and the load generator, each a process of its own, and stops them when the work
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
  const database = await startDatabase();
  onClose(database.close);

  const environment = { DATABASE_URL: database.url, MASTER_KEY: masterKey.toString('base64') };
  function start<Question, Answer>(module: string) {
    const child = startChild<Question, Answer>(new URL(module, import.meta.url), environment);
    onClose(child.end);
    return child;
  }
  const contender = (name: string) => start<'state', ContenderState>(`contenders/${name}.ts`);
  const contenders = {
    bare: contender('bare'),
    nodePg: contender('node-pg'),
    latchkey: contender('latchkey'),
  };
  const generator = start<LoadOrder, LoadResult>('load/generator.ts');

  const { port } = await contenders.latchkey.ask('state');
  const app = await createApp(port);
  process.stderr.write(`seeding ${SESSIONS.toLocaleString('en')} sessions\n`);
  return { database, contenders, generator, app, passwordHash: await seed(database, app, masterKey) };
}
