import { setTimeout as delay } from 'node:timers/promises';
import type { LoadResult } from '../load/generator.ts';
import type { Latency } from '../load/tally.ts';
import { assertRight, measure, usageOf } from '../measure.ts';
import type { Plan } from '../plan.ts';
import { formatTable, median, ratio, whole, type Column } from '../report.ts';
import type { Stage, Target } from '../stage.ts';

/** Paced, so that the storm does not thin them out: what independent programs do. */
const VERIFICATIONS = { perSecond: 1_000, connections: 64 };
const TIMES_CAPACITY = 10;
const CAPACITY_CONNECTIONS = 16;
const STORM_CONNECTIONS = 256;
/** The storm begins before the verifications and outlasts them by as much. */
const AROUND_MS = 500;

/** One line of the table, over all rounds. */
interface Line {
  readonly name: string;
  readonly perSecond: number;
  readonly latencies: readonly Latency[];
}

const COLUMNS: readonly Column<Line>[] = [
  { header: 'a second', of: ({ perSecond }) => whole(perSecond) },
  { header: 'p50 ms', of: ({ latencies }) => over(latencies, ({ p50 }) => p50) },
  { header: 'p99 ms', of: ({ latencies }) => over(latencies, ({ p99 }) => p99) },
  {
    header: 'max ms',
    of: ({ latencies }) =>
      over(
        latencies,
        ({ max }) => max,
        (values) => Math.max(...values),
      ),
  },
];

/** What verifications feel of a login storm at ten times what the service can check. */
export async function measureStorm(
  stage: Stage,
  { population, latchkey }: Target,
  { storm, warmUpMs }: Plan,
): Promise<string> {
  const { generator, stormGenerator, postgres } = stage;
  const { port } = await latchkey.request('state');
  const order = { population, port };
  const verify = async (ms: number) => {
    const load = { mix: 'tokens', pressure: VERIFICATIONS, mayRefuse: false } as const;
    return assertRight('tokens', await generator.request({ ...order, ...load, ms }));
  };
  const capacity = await measure(
    stage,
    { contender: latchkey, population, mix: 'logins', connections: CAPACITY_CONNECTIONS },
    warmUpMs * 2,
  );
  const offered = Math.round(capacity.perSecond * TIMES_CAPACITY);
  const login = async (ms: number) => {
    const pressure = { perSecond: offered, connections: STORM_CONNECTIONS };
    const load = { mix: 'logins', pressure, mayRefuse: true } as const;
    return assertRight('logins', await stormGenerator.request({ ...order, ...load, ms }));
  };
  await verify(warmUpMs);

  const calm: LoadResult[] = [];
  const stormy: LoadResult[] = [];
  const logins: LoadResult[] = [];
  let cores = 0;
  for (let round = 1; round <= storm.rounds; round += 1) {
    process.stderr.write(`storm: round ${round} of ${storm.rounds}\n`);
    calm.push(await verify(storm.calmMs));
    const used = await usageOf(postgres, latchkey);
    const began = performance.now();
    const [verifications, storming] = await Promise.all([
      delay(AROUND_MS).then(() => verify(storm.stormMs)),
      login(storm.stormMs + 2 * AROUND_MS),
    ]);
    const { node, database } = await used();
    cores += (node + database) / 1000 / (performance.now() - began) / storm.rounds;
    stormy.push(verifications);
    logins.push(storming);
  }

  const lines: [without: Line, within: Line, ...Line[]] = [
    line('verify-session, no storm', calm),
    line('verify-session, in the storm', stormy),
    line('logins that got through', logins),
    {
      name: 'logins refused by 429',
      perSecond: median(logins.map(({ refused, seconds }) => refused / seconds)),
      latencies: logins.flatMap(({ refusal }) => refusal ?? []),
    },
  ];
  const [without, within] = lines;
  const grown = (pick: (latency: Latency) => number) =>
    ratio(median(within.latencies.map(pick)) / median(without.latencies.map(pick)));
  return [
    formatTable(`${whole(offered)} logins a second, ${TIMES_CAPACITY} times capacity`, lines, COLUMNS),
    '',
    `in the storm verify's p50 is ${grown(({ p50 }) => p50)} times as long, its p99 ${grown(({ p99 }) => p99)} times`,
    `${total(logins, 'right')} logins got through, ${total(logins, 'refused')} were refused, each with Retry-After`,
    `not sent because all connections were in use: ` +
      `${total(logins, 'unsent')} logins, ${total(stormy, 'unsent')} verifications`,
    `server and database used ${whole(cores)} cores in the storm`,
  ].join('\n');
}

function total(results: readonly LoadResult[], of: 'right' | 'refused' | 'unsent'): string {
  return results.reduce((sum, result) => sum + result[of], 0).toLocaleString('en');
}

function line(name: string, results: readonly LoadResult[]): Line {
  return {
    name,
    perSecond: median(results.map(({ right, seconds }) => right / seconds)),
    latencies: results.flatMap(({ latency }) => latency ?? []),
  };
}

/** One figure over the rounds: the median by default. */
function over(
  latencies: readonly Latency[],
  pick: (latency: Latency) => number,
  combine: (values: number[]) => number = median,
): string {
  return latencies.length === 0 ? '-' : combine(latencies.map(pick)).toFixed(2);
}
