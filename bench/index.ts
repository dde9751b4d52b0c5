import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { REWARM_MS } from './measure.ts';
import { readPlan, USAGE, type Plan } from './plan.ts';
import { machineLine } from './report.ts';
import { measureCalls } from './sections/calls.ts';
import { measureEvents } from './sections/events.ts';
import { measureKeys } from './sections/keys.ts';
import { measurePages } from './sections/pages.ts';
import { measureGrowth } from './sections/growth.ts';
import { measureTrust } from './sections/trust.ts';
import { measureStorm } from './sections/storm.ts';
import { measureWebhooks } from './sections/webhooks.ts';
import { onStage, type Stage } from './stage.ts';

/** Of the database and its log, once the largest number of sessions is in it. */
const BYTES_A_SESSION = 1_000;
/** More than are ever redeemed in one. */
const KEYS_A_SECOND = 3_000;

async function bench(stage: Stage, plan: Plan): Promise<void> {
  const { sections, rounds, roundMs, warmUpMs } = plan;
  print(
    machineLine(stage.postgres.version),
    `medians of ${rounds} rounds of ${roundMs / 1000} s; µs are processor time a request`,
  );
  const calls = (['verify', 'login', 'activate'] as const).some((section) => sections.has(section));
  if (calls || sections.has('storm')) {
    const seconds = (warmUpMs + rounds * roundMs + (rounds + 1) * REWARM_MS) / 1000;
    const licenses = sections.has('activate') ? Math.ceil(seconds * KEYS_A_SECOND) : 0;
    const target = await stage.openTarget('calls', { sessions: plan.sessions, licenses });
    if (calls) print(await measureCalls(stage, target, plan));
    if (sections.has('storm')) print(await measureStorm(stage, target, plan));
    await target.latchkey.end();
    await target.nodePg.end();
  }
  if (sections.has('trust')) print(await measureTrust(stage, plan));
  if (sections.has('keys')) print(await measureKeys(stage, plan));
  if (sections.has('events')) print(await measureEvents(stage, plan));
  if (sections.has('webhooks')) print(await measureWebhooks(stage, plan));
  if (sections.has('pages')) print(await measurePages(stage, plan));
  if (sections.has('growth')) print(await measureGrowth(stage, plan));
}

function print(...lines: string[]): void {
  process.stdout.write(`\n${lines.join('\n')}\n`);
}

/** @throws Error when the temporary folder is too small */
async function checkDiskSpace({ sections, growth: [, sessions] }: Plan): Promise<void> {
  if (!sections.has('growth')) return;
  const { bavail, bsize } = await statfs(tmpdir());
  const gigabytes = (sessions * BYTES_A_SESSION) / 1e9 + 1;
  if (bavail * bsize < gigabytes * 1e9) {
    throw new Error(
      `${tmpdir()} has less than ${gigabytes.toFixed(1)} GB left: set TMPDIR, or run it with quick`,
    );
  }
}

async function main(plan: Plan): Promise<void> {
  const stopped = Promise.withResolvers<never>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stopped.reject(new Error(`stopped by ${signal}`)));
  }
  const timer = setTimeout(() => stopped.reject(new Error('it takes too long')), plan.stopAfterMs);
  try {
    await checkDiskSpace(plan);
    await onStage((stage) => bench(stage, plan), stopped.promise);
  } catch (error) {
    process.stderr.write(`bench: ${(error as Error).message}\n`);
    process.exitCode = 1;
  } finally {
    clearTimeout(timer);
  }
}

const plan = readPlan(process.argv.slice(2));
if (plan) await main(plan);
else {
  process.stderr.write(USAGE);
  process.exitCode = 1;
}
