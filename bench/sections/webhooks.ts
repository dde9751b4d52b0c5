import type { Contender } from '../contenders/contender.ts';
import type { Span } from '../load/receiver.ts';
import type { Latency } from '../load/tally.ts';
import { usageOf, type Measurement } from '../measure.ts';
import type { Plan } from '../plan.ts';
import * as report from '../report.ts';
import { measuredRow, runRounds, type Measured } from '../rounds.ts';
import type { Stage } from '../stage.ts';

/** So many deliveries are ordered at once, to all endpoints together. */
const DELIVERIES = 1_000;
const MANY_ENDPOINTS = 10;

/** One line of the latencies' table. */
interface Line {
  readonly name: string;
  readonly fromRequest: Latency;
  readonly fromResponse: Latency;
}

const STEP_COLUMNS: readonly report.Column<Line>[] = [
  { header: 'from request p50 ms', of: ({ fromRequest }) => fromRequest.p50.toFixed(2) },
  { header: 'p99 ms', of: ({ fromRequest }) => fromRequest.p99.toFixed(2) },
  { header: 'from response p50 ms', of: ({ fromResponse }) => fromResponse.p50.toFixed(2) },
  { header: 'p99 ms', of: ({ fromResponse }) => fromResponse.p99.toFixed(2) },
];

/** How fast webhooks are delivered, compared with a loop that posts the same bodies, and how soon after a change. */
export async function measureWebhooks(stage: Stage, plan: Plan): Promise<string> {
  const target = await stage.openTarget('webhooks', { sessions: 1_000, licenses: 0 });
  const { latchkey, population } = target;
  const loop = stage.openContender('webhook-loop');
  const receiver = stage.openReceiver();
  const placeOf = async (contender: Contender) => ({
    port: (await contender.request('state')).port,
    app: population.app,
  });

  /** Makes the events that are replayed. @returns those for each of many endpoints, and all of them for one */
  async function makeEvents(contender: Contender): Promise<{ few: Span; all: Span }> {
    const place = await placeOf(contender);
    const few = DELIVERIES / MANY_ENDPOINTS;
    const { span } = await receiver.request({ ...place, order: 'make', events: few });
    const rest = await receiver.request({ ...place, order: 'make', events: DELIVERIES - few });
    return { few: span, all: { since: span.since, until: rest.span.until } };
  }

  /** Has events replayed until the time has passed. */
  async function replay(
    contender: Contender,
    endpoints: number,
    span: Span,
    ms: number,
  ): Promise<Measurement> {
    const place = await placeOf(contender);
    await receiver.request({ ...place, order: 'listen', endpoints });
    const used = await usageOf(stage.postgres, contender);
    const sum = { received: 0, seconds: 0, usage: 0 };
    while (sum.seconds * 1000 < ms) {
      const { received, seconds, usage } = await receiver.request({ ...place, order: 'replay', span });
      sum.received += received;
      sum.seconds += seconds;
      sum.usage += usage;
    }
    const { node, database } = await used();
    return {
      perSecond: sum.received / sum.seconds,
      p50: NaN,
      p99: NaN,
      node: node / sum.received,
      // The loop has none.
      database: contender === latchkey ? database / sum.received : 0,
      generator: sum.usage / sum.received,
      generatorShare: sum.usage / 1e6 / sum.seconds,
      others: NaN,
    };
  }

  async function step(name: string, contender: Contender, endpoints: number): Promise<Line> {
    const place = await placeOf(contender);
    await receiver.request({ ...place, order: 'listen', endpoints });
    const result = await receiver.request({ ...place, order: 'step', events: plan.steps });
    return { name, fromRequest: result.fromRequest!, fromResponse: result.fromResponse! };
  }

  try {
    const events = new Map<Contender, { few: Span; all: Span }>();
    for (const each of [loop, latchkey]) events.set(each, await makeEvents(each));
    const row = (name: string, contender: Contender, endpoints: number): Measured => {
      const { few, all } = events.get(contender)!;
      const span = endpoints === 1 ? all : few;
      return measuredRow(name, (ms) => replay(contender, endpoints, span, ms));
    };
    const loopOne = row('bare loop, 1 endpoint', loop, 1);
    const loopMany = row(`bare loop, ${MANY_ENDPOINTS} endpoints`, loop, MANY_ENDPOINTS);
    const one = row('Latchkey, 1 endpoint', latchkey, 1);
    const many = row(`Latchkey, ${MANY_ENDPOINTS} endpoints`, latchkey, MANY_ENDPOINTS);
    const lines = [loopOne, one, loopMany, many];
    // Four rows, so that the section stays below a minute.
    const roundMs = plan.roundMs / 2;
    await runRounds('webhooks', lines, { ...plan, roundMs });

    const steps = [
      await step('bare loop, 1 endpoint', loop, 1),
      await step('Latchkey, 1 endpoint', latchkey, 1),
      await step(`Latchkey, ${MANY_ENDPOINTS} endpoints`, latchkey, MANY_ENDPOINTS),
    ];
    const baseline = (row: report.Row) => (row === one || row === loopOne ? loopOne : loopMany);
    return [
      report.formatTable(`Webhooks, rounds of ${roundMs / 1000} s`, lines, [
        { header: 'deliveries/s', of: (row) => report.whole(report.medianOf(row, report.perSecond)) },
        report.comparison('to loop', baseline, report.perSecond),
        { header: 'server µs', of: (row) => report.whole(report.medianOf(row, ({ node }) => node)) },
        {
          header: 'database µs',
          of: (row) => report.whole(report.medianOf(row, ({ database }) => database)),
        },
        { header: 'CPU µs', of: (row) => report.whole(report.medianOf(row, report.cpuOf)) },
        report.comparison('to loop', baseline, report.cpuOf),
      ]),
      '',
      report.generatorLine(lines, 'receiver'),
      '',
      report.formatTable(`${plan.steps} changes, one after the other`, steps, STEP_COLUMNS),
    ].join('\n');
  } finally {
    await receiver.end();
    await loop.end();
    await latchkey.end();
    await target.nodePg.end();
  }
}
