import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveOrders, type Child } from '../child.ts';
import type { App } from '../data.ts';
import { countArrivals, type Change } from './arrivals.ts';
import { openCaller } from './caller.ts';
import type { Latency } from './tally.ts';

/** From `since` until before `until`. */
export interface Span {
  readonly since: string;
  readonly until: string;
}

/** Where something happens. */
interface Place {
  readonly port: number;
  readonly app: App;
}

/**
 * An order for the receiver: `make` makes events; `listen` replaces the endpoints with this many new ones, and waits
 * until each has responded; `replay` has the events of a period sent to all endpoints; `step` makes one event after
 * another, each when all endpoints have the previous one.
 */
export type ReceiverOrder = Place &
  (
    | { readonly order: 'make' | 'step'; readonly events: number }
    | { readonly order: 'listen'; readonly endpoints: number }
    | { readonly order: 'replay'; readonly span: Span }
  );

export interface ReceiverResult {
  /** When the events were made. */
  readonly span: Span;
  readonly received: number;
  readonly seconds: number;
  /** Microseconds of processor time that the receiver used. */
  readonly usage: number;
  readonly fromRequest: Latency | undefined;
  readonly fromResponse: Latency | undefined;
}

/** A process that receives webhooks of what it changes. */
export type Receiver = Child<ReceiverOrder, ReceiverResult>;

const MAKERS = 8;
/** Senders end idle connections, not the receiver. */
const IDLE_MS = 60_000;

/** Calls the developers' side of one application. */
interface Api {
  change(name: string): Promise<unknown>;
  addEndpoint(url: string): Promise<string>;
  removeEndpoint(id: string): Promise<unknown>;
  replay(id: string, span: Span): Promise<number>;
  close(): void;
}

function openApi({ port, app }: Place): Api {
  const { call, close } = openCaller(port, app.token);
  const path = `/api/v2/dev/apps/${app.app_id}`;
  return {
    change: (name) =>
      call('PUT', `${path}/variables/${name}`, { value: String(performance.now()), visibility: 'session' }),
    async addEndpoint(url) {
      const body = { url, types: ['variable.set'] };
      return (await call<{ webhook_id: string }>('POST', `${path}/webhooks`, body)).webhook_id;
    },
    removeEndpoint: (id) => call('DELETE', `${path}/webhooks/${id}`, {}),
    async replay(id, span) {
      return (await call<{ replayed: number }>('POST', `${path}/webhooks/${id}/replay`, span)).replayed;
    },
    close,
  };
}

let arrivals = countArrivals();
/** The latest one, while events are made one after another. */
let change: Change | undefined;
let endpoints: { readonly place: Place; readonly id: string }[] = [];

const server = createServer((request, response) => {
  const signed = String(request.headers['webhook-signature']).startsWith('v1,');
  request.resume().on('end', () => {
    response.writeHead(signed ? 204 : 400).end();
    if (signed) arrivals.count(change);
  });
});
server.keepAliveTimeout = IDLE_MS;
const listening = once(server.listen(0, '127.0.0.1'), 'listening').then(
  () => (server.address() as AddressInfo).port,
);

async function make(place: Place, events: number): Promise<void> {
  const make = async (maker: number) => {
    const api = openApi(place);
    for (let made = maker; made < events; made += MAKERS) await api.change(`bench-${maker}`);
    api.close();
  };
  await Promise.all(Array.from({ length: MAKERS }, (_, maker) => make(maker)));
}

async function listen(place: Place, count: number): Promise<void> {
  for (const { place, id } of endpoints) {
    const api = openApi(place);
    await api.removeEndpoint(id);
    api.close();
  }
  endpoints = [];
  const port = await listening;
  const api = openApi(place);
  for (let endpoint = 0; endpoint < count; endpoint += 1) {
    endpoints.push({ place, id: await api.addEndpoint(`http://127.0.0.1:${port}/${endpoint}`) });
  }
  await api.change('bench-0');
  await arrivals.reach(count);
  api.close();
}

async function replay(span: Span): Promise<void> {
  const replayed = await Promise.all(
    endpoints.map(async ({ place, id }) => {
      const api = openApi(place);
      const events = await api.replay(id, span);
      api.close();
      return events;
    }),
  );
  await arrivals.reach(replayed.reduce((sum, each) => sum + each));
}

async function step(place: Place, events: number): Promise<void> {
  const api = openApi(place);
  for (let made = 1; made <= events; made += 1) {
    change = { requested: performance.now(), received: Infinity };
    await api.change('bench-0');
    change.received = performance.now();
    await arrivals.reach(made * endpoints.length);
  }
  change = undefined;
  api.close();
}

serveOrders(async (order: ReceiverOrder): Promise<ReceiverResult> => {
  arrivals = countArrivals();
  const usage = process.cpuUsage();
  const start = performance.now();
  const since = new Date().toISOString();
  if (order.order === 'make') await make(order, order.events);
  else if (order.order === 'listen') await listen(order, order.endpoints);
  else if (order.order === 'replay') await replay(order.span);
  else await step(order, order.events);
  const { user, system } = process.cpuUsage(usage);
  return {
    span: { since, until: new Date(Date.now() + 1).toISOString() },
    received: arrivals.received,
    seconds: (performance.now() - start) / 1000,
    usage: user + system,
    ...arrivals.latencies(),
  };
});
