import { cpus } from 'node:os';
import { verify } from '@node-rs/argon2';
import type { Contender } from './contenders/contender.ts';
import { PASSWORD, type Population } from './data.ts';
import type { LoadResult } from './load/generator.ts';
import type { Mix } from './load/requests.ts';
import { cpuBetween, cpuTimes } from './process-cpu.ts';
import type { Stage } from './stage.ts';

/** What comes before each measurement. */
export const REWARM_MS = 1_000;

/** One measurement; processor times are microseconds a request. */
export interface Measurement {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly node: number;
  /** NaN where the system does not report it. */
  readonly database: number;
  readonly generator: number;
  /** The part of one core that the load generator used. */
  readonly generatorShare: number;
  /** The part of the machine that processes outside of the bench used; NaN where the system does not report it. */
  readonly others: number;
}

/** The contender, the requests, and the number of connections. */
export interface Load {
  readonly contender: Contender;
  readonly population: Population;
  readonly mix: Mix;
  readonly connections: number;
}

/**
 * Loads a contender, after a short warm-up.
 * @throws Error on a wrong response
 */
export async function measure(
  { postgres, generator }: Pick<Stage, 'postgres' | 'generator'>,
  { contender, population, mix, connections }: Load,
  ms: number,
): Promise<Measurement> {
  const { port } = await contender.request('state');
  const order = { population, port, mix, pressure: { connections }, mayRefuse: false };
  assertRight(mix, await generator.request({ ...order, ms: REWARM_MS }));

  const busyBefore = busySeconds();
  const used = await usageOf(postgres, contender);
  const result = await generator.request({ ...order, ms });
  const { node, database } = await used();
  const busy = busySeconds() - busyBefore;

  const { right, seconds, usage, latency } = assertRight(mix, result);
  const own = (node + database + usage) / 1e6;
  return {
    perSecond: right / seconds,
    p50: latency.p50,
    p99: latency.p99,
    node: node / right,
    database: database / right,
    generator: usage / right,
    generatorShare: usage / 1e6 / seconds,
    others: Math.max(0, busy - own) / seconds / cpus().length,
  };
}

/** What a password costs by itself: one verification after another, in this process, with nothing else running. */
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
  };
}

/** @throws Error that shows the first wrong response, or says that there are no responses */
export function assertRight(
  mix: Mix,
  result: LoadResult,
): LoadResult & { readonly latency: NonNullable<LoadResult['latency']> } {
  const { wrong, firstWrong, latency } = result;
  if (firstWrong)
    throw new Error(`${mix}: ${wrong} wrong responses, the first is ${firstWrong.status} ${firstWrong.body}`);
  if (!latency) throw new Error(`${mix}: no response`);
  return { ...result, latency };
}

/** Begins to count processor time. @returns what server and database have used since, in microseconds */
export async function usageOf(
  postgres: Stage['postgres'],
  contender: Contender,
): Promise<() => Promise<{ node: number; database: number }>> {
  const processesBefore = cpuTimes(postgres.processes());
  const before = await contender.request('state');
  return async () => {
    const after = await contender.request('state');
    const processes = cpuTimes(postgres.processes());
    const database = processes.size > 0 ? cpuBetween(processesBefore, processes) : NaN;
    return { node: after.usage - before.usage, database };
  };
}

/** For how long all cores together have been busy. */
function busySeconds(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1000;
}
