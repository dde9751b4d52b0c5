import { measure } from '../measure.ts';
import type { Plan } from '../plan.ts';
import * as report from '../report.ts';
import { measuredRow, runRounds } from '../rounds.ts';
import type { Stage } from '../stage.ts';

const CONNECTIONS = 64;

/** What a verification costs whose request a device has signed, and whose response is signed. */
export async function measureTrust(stage: Stage, plan: Plan): Promise<string> {
  const size = { sessions: plan.sessions, licenses: 0 };
  const [plain, bound] = [
    await stage.openTarget('plain', size),
    await stage.openTarget('bound', { ...size, devices: true }),
  ];
  const load =
    (target: typeof plain, contender: typeof plain.latchkey, mix: 'tokens' | 'signed') => (ms: number) =>
      measure(stage, { contender, population: target.population, mix, connections: CONNECTIONS }, ms);
  const lookup = measuredRow('node:http + pg, one named lookup', load(plain, plain.nodePg, 'tokens'));
  const rows = [
    lookup,
    measuredRow('verify-session, nothing signed', load(plain, plain.latchkey, 'tokens')),
    measuredRow('verify-session, both signed', load(bound, bound.latchkey, 'signed')),
  ];
  await runRounds('client trust', rows, plan);
  for (const { latchkey, nodePg } of [plain, bound]) {
    await latchkey.end();
    await nodePg.end();
  }
  return [
    report.formatTable(
      `Client trust, ${size.sessions.toLocaleString('en')} sessions, ${CONNECTIONS} connections`,
      rows,
      report.standardColumns(() => lookup, 'http+pg'),
    ),
    '',
    `every response was right; ${report.generatorLine(rows)}`,
    report.othersLine(rows),
  ].join('\n');
}
