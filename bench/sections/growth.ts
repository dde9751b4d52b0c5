import { measure } from '../measure.ts';
import type { Plan } from '../plan.ts';
import * as report from '../report.ts';
import { measuredRow, runRounds, type Measured } from '../rounds.ts';
import type { Stage } from '../stage.ts';

const CONNECTIONS = 64;

/** What more sessions cost a verification: two databases, measured in turn. */
export async function measureGrowth(stage: Stage, plan: Plan): Promise<string> {
  async function open(sessions: number): Promise<{ lookup: Measured; verify: Measured }> {
    const target = await stage.openTarget(`sessions_${sessions}`, { sessions, licenses: 0 });
    const { population, nodePg, latchkey } = target;
    const row = (name: string, contender: typeof nodePg) =>
      measuredRow(`${name}, ${sessions.toLocaleString('en')} sessions`, (ms) =>
        measure(stage, { contender, population, mix: 'tokens', connections: CONNECTIONS }, ms),
      );
    return { lookup: row('node:http + pg', nodePg), verify: row('verify-session', latchkey) };
  }
  const [few, many] = plan.growth;
  const small = await open(few);
  const large = await open(many);
  const rows = [small.lookup, large.lookup, small.verify, large.verify];
  await runRounds('growth', rows, plan);

  const sameSize = (row: report.Row) =>
    row === small.lookup || row === small.verify ? small.lookup : large.lookup;
  const fewest = (row: report.Row) =>
    row === small.lookup || row === large.lookup ? small.lookup : small.verify;
  return [
    report.formatTable(`From ${few.toLocaleString('en')} to ${many.toLocaleString('en')} sessions`, rows, [
      ...report.standardColumns(sameSize, 'http+pg'),
      report.comparison('p50 grown', fewest, ({ p50 }) => p50),
      report.comparison('CPU grown', fewest, report.cpuOf),
    ]),
    '',
    report.othersLine(rows),
  ].join('\n');
}
