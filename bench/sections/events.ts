import type { Contender } from '../contenders/contender.ts';
import type { Followers } from '../load/followers.ts';
import type { Transport } from '../load/client.ts';
import type { Latency } from '../load/tally.ts';
import { usageOf, type Measurement } from '../measure.ts';
import type { Plan } from '../plan.ts';
import * as report from '../report.ts';
import { measuredRow, runRounds, type Measured } from '../rounds.ts';
import type { Stage, Target } from '../stage.ts';

const CLIENTS = 100;
const CONNECTIONS = 8;
/** How soon a connected client must know of its ban. */
const BAN_AIM_MS = 100;

/** One line of the bans' table. */
interface Line {
  readonly name: string;
  readonly fromRequest: Latency;
  readonly fromResponse: Latency;
}

const BAN_COLUMNS: readonly report.Column<Line>[] = [
  { header: 'from request p50 ms', of: ({ fromRequest }) => fromRequest.p50.toFixed(2) },
  { header: 'p99 ms', of: ({ fromRequest }) => fromRequest.p99.toFixed(2) },
  { header: 'from response p50 ms', of: ({ fromResponse }) => fromResponse.p50.toFixed(2) },
  { header: 'p99 ms', of: ({ fromResponse }) => fromResponse.p99.toFixed(2) },
  { header: 'max ms', of: ({ fromResponse }) => fromResponse.max.toFixed(2) },
];

/** How fast events reach connected clients, compared with a broker that stores nothing, and a ban its user. */
export async function measureEvents(stage: Stage, plan: Plan): Promise<string> {
  const target = await stage.openTarget('events', { sessions: 2_000, licenses: 0 });
  const broker = stage.openContender('aedes');
  const followers = stage.openFollowers();
  try {
    const row = (name: string, contender: Contender, transport: Transport): Measured =>
      measuredRow(name, (ms) => measureFlood({ stage, followers, contender, target, transport }, ms));
    const bare = row('aedes alone, MQTT over WebSocket', broker, 'mqtt');
    const lines = [
      bare,
      row('Latchkey, MQTT over WebSocket', target.latchkey, 'mqtt'),
      row('Latchkey, server-sent events', target.latchkey, 'sse'),
    ];
    await runRounds('events', lines, plan);
    const bans = [
      await measureBans('a ban, MQTT over WebSocket', followers, target, 'mqtt', CLIENTS, plan.steps),
      await measureBans(
        'a ban, server-sent events',
        followers,
        target,
        'sse',
        CLIENTS + plan.steps,
        plan.steps,
      ),
    ];
    const slowest = Math.max(...bans.map(({ fromResponse }) => fromResponse.p99));
    return [
      report.formatTable(`Events to ${CLIENTS} clients`, lines, [
        {
          header: 'changes/s',
          of: (row) => report.whole(report.medianOf(row, (measured) => measured.perSecond / CLIENTS)),
        },
        { header: 'events/s', of: (row) => report.whole(report.medianOf(row, report.perSecond)) },
        report.comparison('to aedes', () => bare, report.perSecond),
        { header: 'p50 ms', of: (row) => report.medianOf(row, ({ p50 }) => p50).toFixed(2) },
        { header: 'p99 ms', of: (row) => report.medianOf(row, ({ p99 }) => p99).toFixed(2) },
        { header: 'CPU µs an event', of: (row) => report.medianOf(row, report.cpuOf).toFixed(1) },
        {
          header: 'of these database',
          of: (row) => report.medianOf(row, ({ database }) => database).toFixed(1),
        },
        report.comparison('to aedes', () => bare, report.cpuOf),
      ]),
      '',
      report.generatorLine(lines, 'clients'),
      '',
      report.formatTable(`${plan.steps} bans, one after the other`, bans, BAN_COLUMNS),
      '',
      `a ban is known within ${BAN_AIM_MS} ms of its response: ${slowest <= BAN_AIM_MS ? 'yes' : 'NO'}`,
    ].join('\n');
  } finally {
    await followers.end();
    await broker.end();
    await target.latchkey.end();
    await target.nodePg.end();
  }
}

interface Flood {
  readonly stage: Stage;
  readonly followers: Followers;
  readonly contender: Contender;
  readonly target: Target;
  readonly transport: Transport;
}

/** Makes changes that every client follows, as fast as the responses come. Latency is from response to client. */
async function measureFlood(flood: Flood, ms: number): Promise<Measurement> {
  const { stage, followers, contender, target, transport } = flood;
  const { port } = await contender.request('state');
  const place = { port, app: target.population.app };
  await followers.request({ ...place, order: 'follow', transport, clients: CLIENTS });
  const used = await usageOf(stage.postgres, contender);
  const result = await followers.request({ ...place, order: 'flood', connections: CONNECTIONS, ms });
  const { node, database } = await used();
  const { delivered, seconds, usage, fromResponse } = result;
  return {
    perSecond: delivered / seconds,
    p50: fromResponse!.p50,
    p99: fromResponse!.p99,
    node: node / delivered,
    // The broker has none.
    database: contender === target.latchkey ? database / delivered : 0,
    generator: usage / delivered,
    generatorShare: usage / 1e6 / seconds,
    others: NaN,
  };
}

async function measureBans(
  name: string,
  followers: Followers,
  { population, latchkey }: Target,
  transport: Transport,
  firstUser: number,
  users: number,
): Promise<Line> {
  const { port } = await latchkey.request('state');
  const order = { port, app: population.app, order: 'ban', transport, firstUser, users } as const;
  const { fromRequest, fromResponse } = await followers.request(order);
  return { name, fromRequest: fromRequest!, fromResponse: fromResponse! };
}
