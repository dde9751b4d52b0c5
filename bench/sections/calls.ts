import type { Mix } from '../load/requests.ts';
import { measure, measureHash } from '../measure.ts';
import type { Plan } from '../plan.ts';
import * as report from '../report.ts';
import { measuredRow, runRounds, type Measured } from '../rounds.ts';
import type { Stage, Target } from '../stage.ts';

const CONNECTIONS = 64;
/** As many logins as one core checks without refusing any. */
const LOGIN_CONNECTIONS = 16;

/** How fast each call is, compared with a bare server and the minimum cost of a lookup. */
export async function measureCalls(stage: Stage, target: Target, plan: Plan): Promise<string> {
  const { nodePg, latchkey, population } = target;
  const row = (name: string, contender: typeof latchkey, mix: Mix, connections = CONNECTIONS): Measured =>
    measuredRow(name, (ms) => measure(stage, { contender, population, mix, connections }, ms));

  const lookup = row('node:http + pg, one named lookup', nodePg, 'tokens');
  const verify = row('verify-session, signed tokens', latchkey, 'tokens');
  const verifications = [
    verify,
    row('verify-session, tokens and session ids', latchkey, 'handles'),
    row('verify-session, the same with hwid', latchkey, 'machines'),
  ];
  const activate = row('activate, a new key each', latchkey, 'activations');
  const hash = measuredRow('Argon2id alone, one at a time', (ms) => measureHash(target.passwordHash, ms));
  const logins = [
    hash,
    row('login v1', latchkey, 'logins', LOGIN_CONNECTIONS),
    row('login v2', latchkey, 'loginsV2', LOGIN_CONNECTIONS),
  ];

  const chosen = <Row>(section: 'verify' | 'activate' | 'login', rows: Row[]): Row[] =>
    plan.sections.has(section) ? rows : [];
  const short = [
    ...chosen('verify', [row('bare node:http', stage.bare, 'tokens')]),
    lookup,
    ...chosen('verify', verifications),
  ];
  const long = [...chosen('activate', [activate]), ...chosen('login', logins)];
  await runRounds('short calls', short, plan);
  // Separately: V8 discards optimized code that is not called.
  await runRounds('long calls', long, plan);
  const rows = [...short, ...long];

  const title = `${population.sessions.toLocaleString('en')} sessions, ${CONNECTIONS} connections`;
  const overHttp = rows.filter((row) => row !== hash);
  const aim = report.ratioTo(lookup, verify, report.perSecond);
  const lines = [
    report.formatTable(
      title,
      rows,
      report.standardColumns(() => lookup, 'http+pg'),
    ),
    ...chosen('login', ['', loginTable(logins, hash)]),
    '',
    ...chosen('verify', [
      `verify at or above node:http + pg: ${aim >= 1 ? 'yes' : 'NO'} (${aim.toFixed(2)})`,
    ]),
    `every response was right; ${report.generatorLine(overHttp)}`,
    report.othersLine(overHttp),
  ];
  return lines.join('\n');
}

function loginTable(logins: readonly Measured[], hash: Measured): string {
  const [, v1] = logins;
  return report.formatTable(`Logins, ${LOGIN_CONNECTIONS} connections`, logins, [
    report.comparison('req/s to Argon2id', () => hash, report.perSecond),
    report.comparison('CPU to Argon2id', () => hash, report.cpuOf),
    report.comparison('req/s to v1', () => v1!, report.perSecond),
    report.comparison('CPU to v1', () => v1!, report.cpuOf),
  ]);
}
