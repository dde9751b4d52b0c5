import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { buffer } from 'node:stream/consumers';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { cpuBetween, cpuTimes } from '../process-cpu.ts';
import { usageOf, type Measurement } from '../measure.ts';
import type { Plan } from '../plan.ts';
import * as report from '../report.ts';
import { measuredRow, runRounds } from '../rounds.ts';
import type { Stage, Target } from '../stage.ts';

/** The maximum that one call makes. */
const KEYS_A_CALL = 10_000;

/** How fast license keys are generated, compared with a plain COPY of the same rows into an equal table. */
export async function measureKeys(stage: Stage, plan: Plan): Promise<string> {
  const target = await stage.openTarget('keys', { sessions: 1_000, licenses: 0 });
  const { latchkey, population, databaseUrl } = target;
  const { port } = await latchkey.request('state');
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const generate = () => generateKeys(port, population.app, KEYS_A_CALL);
    await generate();
    const rows = await buffer(client.query(copyTo('copy licenses to stdout')));
    await client.query('create table copied (like licenses including all)');

    const copy = measuredRow('COPY of the same rows', (ms) =>
      measureCalls(
        ms,
        () => ownUsage(stage),
        async () => {
          await pipeline(Readable.from([rows]), client.query(copyFrom('copy copied from stdin')));
        },
        async () => void (await client.query('truncate copied')),
      ),
    );
    const calls = measuredRow(`createLicenses, ${KEYS_A_CALL.toLocaleString('en')} a call`, (ms) =>
      measureCalls(ms, () => usageOf(stage.postgres, latchkey), generate),
    );
    const lines = [copy, calls];
    await runRounds('keys', lines, plan);
    return report.formatTable('License keys', lines, [
      { header: 'keys/s', of: (row) => report.whole(report.medianOf(row, report.perSecond)) },
      report.comparison('to COPY', () => copy, report.perSecond),
      { header: 'CPU µs a key', of: (row) => report.whole(report.medianOf(row, report.cpuOf)) },
      report.comparison('to COPY', () => copy, report.cpuOf),
    ]);
  } finally {
    await client.end();
    await latchkey.end();
    await target.nodePg.end();
  }
}

/** Makes calls one after another, for a period. @param tidy runs after each and is not measured */
async function measureCalls(
  ms: number,
  usage: () => Promise<() => Promise<{ node: number; database: number }>>,
  call: () => Promise<void>,
  tidy?: () => Promise<void>,
): Promise<Measurement> {
  const took: number[] = [];
  const spent = { node: 0, database: 0 };
  for (let total = 0; total < ms; total += took.at(-1)!) {
    const used = await usage();
    const start = performance.now();
    await call();
    took.push(performance.now() - start);
    const { node, database } = await used();
    spent.node += node;
    spent.database += database;
    await tidy?.();
  }
  const seconds = took.reduce((sum, each) => sum + each, 0) / 1000;
  const keys = took.length * KEYS_A_CALL;
  return {
    perSecond: keys / seconds,
    p50: report.median(took),
    p99: Math.max(...took),
    node: spent.node / keys,
    database: spent.database / keys,
    generator: 0,
    generatorShare: 0,
    others: NaN,
  };
}

/** Processor time of this process and the database, as `usageOf` reports that of a server. */
async function ownUsage({ postgres }: Stage): Promise<() => Promise<{ node: number; database: number }>> {
  const before = cpuTimes(postgres.processes());
  const own = process.cpuUsage();
  return async () => {
    const { user, system } = process.cpuUsage(own);
    const processes = cpuTimes(postgres.processes());
    return { node: user + system, database: processes.size > 0 ? cpuBetween(before, processes) : NaN };
  };
}

async function generateKeys(port: number, app: Target['population']['app'], amount: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v2/dev/apps/${app.app_id}/licenses`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${app.token}` },
    body: JSON.stringify({ amount, duration_days: 30, tier: 'Pro' }),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`createLicenses returned ${response.status} ${text}`);
}
