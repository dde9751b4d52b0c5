import { serveOrders, type Child } from '../child.ts';
import { SESSIONS_A_USER, userIdOf, type App, FIRST_SESSION_USER } from '../data.ts';
import { countArrivals, type Arrivals, type Change } from './arrivals.ts';
import { openCaller } from './caller.ts';
import { openClient, type Transport } from './client.ts';
import type { Latency } from './tally.ts';

/** Where something happens. */
interface Place {
  readonly port: number;
  readonly app: App;
}

interface Follow extends Place {
  readonly order: 'follow';
  readonly transport: Transport;
  readonly clients: number;
}

interface Flood extends Place {
  readonly order: 'flood';
  readonly connections: number;
  readonly ms: number;
}

interface Ban extends Place {
  readonly order: 'ban';
  readonly transport: Transport;
  /** Counted among those who have sessions. */
  readonly firstUser: number;
  readonly users: number;
}

/**
 * An order for the clients: `follow` connects some, each of another user, instead of the previous ones; `flood`
 * changes variables as fast as the responses come, until all clients have all events; `ban` bans one connected user
 * after another.
 */
export type FollowOrder = Follow | Flood | Ban;

export interface FollowResult {
  /** Events that all clients together have received. */
  readonly delivered: number;
  readonly seconds: number;
  /** Microseconds of processor time that clients and changes used. */
  readonly usage: number;
  /** From the request of a change, and from its response, until a client has the event. */
  readonly fromRequest: Latency | undefined;
  readonly fromResponse: Latency | undefined;
}

/** A process of clients who follow what it changes. */
export type Followers = Child<FollowOrder, FollowResult>;

/** The clients that are connected. */
let leave: (() => void)[] = [];
let onVariable: (client: number, name: string) => void = () => {};

async function follow({ port, app, transport, clients }: Follow): Promise<void> {
  for (const each of leave) each();
  leave = await Promise.all(
    Array.from({ length: clients }, (_, client) =>
      openClient(transport, { port, appId: app.app_id, session: client * SESSIONS_A_USER }, (json) => {
        const { type, data } = JSON.parse(json) as { type: string; data: { name: string } };
        if (type === 'variable.set') onVariable(client, data.name);
      }),
    ),
  );
}

async function flood({ port, app, connections, ms }: Flood, arrivals: Arrivals): Promise<void> {
  const start = performance.now();
  const changes = new Map<string, Change[]>();
  // There is one change of a variable at a time, so a client gets its events in the order of its changes.
  const received = leave.map(() => new Map<string, number>());
  onVariable = (client, name) => {
    const turn = received[client]!.get(name) ?? 0;
    received[client]!.set(name, turn + 1);
    arrivals.count(changes.get(name)![turn]!);
  };

  async function change(name: string): Promise<number> {
    const caller = openCaller(port, app.token);
    const made: Change[] = [];
    changes.set(name, made);
    while (performance.now() - start < ms) {
      const change = { requested: performance.now(), received: Infinity };
      made.push(change);
      const body = { value: `${Date.now()} ${made.length}`, visibility: 'session' };
      await caller.call('PUT', `/api/v2/dev/apps/${app.app_id}/variables/${name}`, body);
      change.received = performance.now();
    }
    caller.close();
    return made.length;
  }
  const names = Array.from({ length: connections }, (_, connection) => `bench-${connection}`);
  const made = await Promise.all(names.map(change));
  await arrivals.reach(made.reduce((sum, each) => sum + each) * leave.length);
}

async function ban({ port, app, transport, firstUser, users }: Ban, arrivals: Arrivals): Promise<void> {
  const caller = openCaller(port, app.token);
  const changes: Change[] = [];
  const open = (user: number) =>
    openClient(transport, { port, appId: app.app_id, session: user * SESSIONS_A_USER }, (json) => {
      if ((JSON.parse(json) as { type: string }).type === 'user.banned') arrivals.count(changes.at(-1));
    });
  const numbers = Array.from({ length: users }, (_, index) => firstUser + index);
  const close = await Promise.all(numbers.map(open));
  for (const user of numbers) {
    const change = { requested: performance.now(), received: Infinity };
    changes.push(change);
    const userId = userIdOf(FIRST_SESSION_USER + user);
    await caller.call('POST', `/api/v2/dev/apps/${app.app_id}/users/${userId}/ban`, {});
    change.received = performance.now();
    await arrivals.reach(changes.length);
  }
  for (const each of close) each();
  caller.close();
}

serveOrders(async (order: FollowOrder): Promise<FollowResult> => {
  const usage = process.cpuUsage();
  const start = performance.now();
  const arrivals = countArrivals();
  if (order.order === 'follow') await follow(order);
  else if (order.order === 'flood') await flood(order, arrivals);
  else await ban(order, arrivals);
  const { user, system } = process.cpuUsage(usage);
  return {
    delivered: arrivals.received,
    seconds: (performance.now() - start) / 1000,
    usage: user + system,
    ...arrivals.latencies(),
  };
});
