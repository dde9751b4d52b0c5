import { SESSIONS } from './data.ts';
import { measure, measureHash, type Measurement } from './measure.ts';
import { formatTable, generatorLine, machineLine, othersLine, ratioTo, type Row } from './report.ts';
import { onStage, type Stage } from './stage.ts';

const ROUNDS = 5;
const ROUND_MS = 2_000;
const WARM_UP_MS = 1_500;
const STOP_AFTER_MS = 170_000;

/** A row and how it is measured. */
interface Measured extends Row {
  run(ms: number): Promise<Measurement>;
}

/** Every contender in turn, several rounds: what disturbs the machine for a while disturbs all of them. */
async function bench(stage: Stage): Promise<void> {
  const { bare, nodePg, latchkey } = stage.contenders;
  const row = (
    name: string,
    contender: typeof bare,
    mix: 'tokens' | 'handles' | 'machines' | 'logins',
    connections = 64,
  ): Measured => ({ name, rounds: [], run: (ms) => measure(stage, contender, { mix, connections }, ms) });

  const bareHttp = row('bare node:http', bare, 'tokens');
  const lookup = row('node:http + pg, one named lookup', nodePg, 'tokens');
  const verify = row('verify-session, signed tokens', latchkey, 'tokens');
  const verifyBoth = row('verify-session, tokens and session ids', latchkey, 'handles');
  const verifyMachine = row('verify-session, the same with hwid', latchkey, 'machines');
  const hash: Measured = {
    name: 'Argon2id alone, one at a time',
    rounds: [],
    run: (ms) => measureHash(stage.passwordHash, ms),
  };
  const login = row('login', latchkey, 'logins', 16);

  const lookups = [bareHttp, lookup, verify, verifyBoth, verifyMachine];
  const logins = [hash, login];
  for (const { run } of [...lookups, ...logins]) await run(WARM_UP_MS);
  for (let round = 1; round <= ROUNDS; round += 1) {
    process.stderr.write(`round ${round} of ${ROUNDS}\n`);
    for (const { rounds, run } of [...lookups, ...logins]) rounds.push(await run(ROUND_MS));
  }

  const aim = ratioTo(lookup, verify);
  const refused = login.rounds.reduce((sum, measurement) => sum + measurement.refused, 0);
  const lines = [
    '',
    machineLine(stage.database.version),
    `medians of ${ROUNDS} rounds of ${ROUND_MS / 1000} s; µs are processor time a request`,
    '',
    formatTable({
      title: `${SESSIONS.toLocaleString('en')} sessions, 64 connections`,
      rows: lookups,
      baseline: lookup,
      ratioHeader: 'to http+pg',
    }),
    '',
    formatTable({ title: 'Login, 16 connections', rows: logins, baseline: hash, ratioHeader: 'to hash' }),
    '',
    `verify at or above node:http + pg: ${aim >= 1 ? 'yes' : 'NO'} (${aim.toFixed(2)})`,
    `logins refused with 429: ${refused}; wrong answers: 0`,
    generatorLine([...lookups, login]),
    othersLine(lookups),
    '',
  ];
  process.stdout.write(lines.join('\n'));
}

const stopped = Promise.withResolvers<never>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => stopped.reject(new Error(`stopped by ${signal}`)));
}
const timer = setTimeout(() => stopped.reject(new Error('the bench takes too long')), STOP_AFTER_MS);
try {
  await onStage(bench, stopped.promise);
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  clearTimeout(timer);
}
