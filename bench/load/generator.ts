import { serveOrders, type Child } from '../child.ts';
import type { Population } from '../data.ts';
import { loadClosed } from './closed.ts';
import { loadPaced, type Pace } from './paced.ts';
import { requestMaker, REQUESTS, type Mix } from './requests.ts';
import { createTally, type Counts } from './tally.ts';

/** What to load, and how hard. */
export interface LoadOrder {
  readonly population: Population;
  readonly port: number;
  readonly mix: Mix;
  /** Connections kept busy with one request each, or a pace that does not depend on the responses. */
  readonly pressure: { readonly connections: number } | Pace;
  readonly ms: number;
  /** Whether a refusal by 429 is no fault. */
  readonly mayRefuse: boolean;
}

export interface LoadResult extends Counts {
  readonly seconds: number;
  /** Requests of a pace that were due but did not find a free connection. */
  readonly unsent: number;
  /** Microseconds of processor time that the generator itself used. */
  readonly usage: number;
}

/** A process that makes load. */
export type LoadGenerator = Child<LoadOrder, LoadResult>;

/** By application: a maker knows which license keys have been used. */
const makers = new Map<string, (mix: Mix) => string>();

/** Makes the requested load and checks every response. A wrong one ends it. */
async function load({ population, port, mix, pressure, ms, mayRefuse }: LoadOrder): Promise<LoadResult> {
  const appId = population.app.app_id;
  const maker = makers.get(appId) ?? requestMaker(population);
  makers.set(appId, maker);
  const make = () => maker(mix);
  const tally = createTally(REQUESTS[mix].response, mayRefuse);

  const usage = process.cpuUsage();
  const start = performance.now();
  let unsent = 0;
  if ('perSecond' in pressure) unsent = await loadPaced({ port, ...pressure, ms }, make, tally);
  else await loadClosed({ port, ...pressure, ms }, make, tally);
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(usage);
  return { seconds, unsent, ...tally.result(), usage: user + system };
}

serveOrders(load);
