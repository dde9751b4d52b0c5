import { cpus } from 'node:os';
import { verify } from '@node-rs/argon2';
import type { Contender } from './contenders/contender.ts';
import { PASSWORD } from './data.ts';
import type { Mix } from './load/requests.ts';
import { cpuBetween, cpuTimes } from './process-cpu.ts';
import type { Stage } from './stage.ts';

const REWARM_MS = 300;

/** One measurement; processor times are microseconds a request. */
export interface Measurement {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly node: number;
  /** NaN where the system does not tell. */
  readonly database: number;
  readonly generator: number;
  /** The part of one core that the load generator used. */
  readonly generatorShare: number;
  /** The part of the machine that processes outside of the bench used; NaN where the system does not tell. */
  readonly others: number;
  readonly refused: number;
}

/**
 * Loads a contender, a moment first for it to come back to speed.
 * @throws Error on a wrong answer
 */
export async function measure(
  { database, generator, app }: Pick<Stage, 'database' | 'generator' | 'app'>,
  contender: Contender,
  load: { readonly mix: Mix; readonly connections: number },
  ms: number,
): Promise<Measurement> {
  const { port } = await contender.ask('state');
  await generator.ask({ app, port, ...load, ms: REWARM_MS });

  const processesBefore = cpuTimes(database.processes());
  const busyBefore = busySeconds();
  const before = await contender.ask('state');
  const result = await generator.ask({ app, port, ...load, ms });
  const after = await contender.ask('state');
  const busy = busySeconds() - busyBefore;
  const processesAfter = cpuTimes(database.processes());

  if (result.firstWrong || result.right === 0) {
    const { status, body } = result.firstWrong ?? { status: 429, body: '' };
    throw new Error(`${load.mix}: ${result.wrong} wrong answers, the first is ${status} ${body}`);
  }
  const requests = result.right + result.refused;
  const nodeCpu = after.usage - before.usage;
  const databaseCpu = processesAfter.size > 0 ? cpuBetween(processesBefore, processesAfter) : NaN;
  const own = (nodeCpu + databaseCpu + result.usage) / 1e6;
  return {
    perSecond: result.right / result.seconds,
    p50: result.p50,
    p99: result.p99,
    node: nodeCpu / requests,
    database: databaseCpu / requests,
    generator: result.usage / requests,
    generatorShare: result.usage / 1e6 / result.seconds,
    others: Math.max(0, busy - own) / result.seconds / cpus().length,
    refused: result.refused,
  };
}

/** What a password costs by itself: one verification after the other, in this process, nothing else under way. */
export async function measureHash(passwordHash: string, ms: number): Promise<Measurement> {
  const took: number[] = [];
  const usage = process.cpuUsage();
  const start = performance.now();
  let now = start;
  while (now - start < ms) {
    if (!(await verify(passwordHash, PASSWORD))) throw new Error('the password does not match its hash');
    took.push(-now + (now = performance.now()));
  }
  const { user, system } = process.cpuUsage(usage);
  took.sort((a, b) => a - b);
  return {
    perSecond: (took.length * 1000) / (now - start),
    p50: took[Math.floor(took.length * 0.5)]!,
    p99: took[Math.floor(took.length * 0.99)]!,
    node: (user + system) / took.length,
    database: 0,
    generator: 0,
    generatorShare: 0,
    others: NaN,
    refused: 0,
  };
}

/** For how long all cores together have been busy. */
function busySeconds(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1000;
}
