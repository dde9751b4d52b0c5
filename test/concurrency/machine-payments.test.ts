import { expect, onTestFinished, test } from 'vitest';
import pg from 'pg';
import {
  ACCESS,
  challengeOf,
  credential,
  type WireChallenge,
} from '../operations/support/machine-payments.ts';
import type { LightResponse } from './load.ts';
import { tally } from './load.ts';
import { startTwoProcesses } from './two-processes.ts';

const two = await startTwoProcesses();
const { client, databaseUrl, services, sql } = two;
const AT_ONCE = 100;

const newChallenge = async (turn: number): Promise<WireChallenge> =>
  challengeOf(await client(turn).call('GET', ACCESS));
const pay = (turn: number, authorization: string): Promise<LightResponse> =>
  client(turn).call('GET', ACCESS, undefined, { headers: { authorization } });
const works = async (turn: number, token: unknown) =>
  (await client(turn).call('GET', '/api/v1/agent/token', undefined, String(token))).status === 200;

interface Row {
  readonly challenge_id: string;
  readonly state: string;
  readonly reference: string;
  readonly payment_ref: string | null;
}
const rows = () => sql<Row>('select challenge_id, state, reference, payment_ref from machine_payments');
const rowOf = async ({ id }: WireChallenge) =>
  (await rows()).find(({ challenge_id }) => challenge_id === id)!;

test('one credential 100 times at once over two processes: one token, and one payment', async () => {
  for (let round = 0; round < 5; round += 1) {
    const challenge = await newChallenge(round);
    const authorization = credential(challenge);
    const responses = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, turn) => pay(turn, authorization)),
    );
    expect(tally(responses)).toEqual({ 200: 1, '402 INVALID_CHALLENGE': AT_ONCE - 1 });
    const { body } = responses.find(({ status }) => status === 200)!;
    // The other process accepts the token, too.
    expect([await works(0, body['access_token']), await works(1, body['access_token'])]).toEqual([
      true,
      true,
    ]);
    const { reference } = body['payment'] as { reference: string };
    expect(await rowOf(challenge)).toMatchObject({ state: 'settled', reference });
  }
  const all = await rows();
  expect(all).toHaveLength(5);
  expect(new Set(all.map(({ payment_ref }) => payment_ref)).size).toBe(5);
});

test('100 challenges of one process, each paid at both at once: 100 tokens, all different', async () => {
  const challenges = await Promise.all(Array.from({ length: AT_ONCE }, () => newChallenge(0)));
  const responses = await Promise.all(
    challenges.flatMap((challenge) => [0, 1].map((turn) => pay(turn, credential(challenge)))),
  );
  expect(tally(responses)).toEqual({ 200: AT_ONCE, '402 INVALID_CHALLENGE': AT_ONCE });
  const given = responses.filter(({ status }) => status === 200).map(({ body }) => body['access_token']);
  expect(new Set(given).size).toBe(AT_ONCE);
});

test('many payment tokens for one challenge at once: one of them pays', async () => {
  const challenge = await newChallenge(0);
  const responses = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, turn) =>
      pay(turn, credential(challenge, { spt: `spt_test_${turn}` })),
    ),
  );
  expect(tally(responses)).toEqual({ 200: 1, '402 INVALID_CHALLENGE': AT_ONCE - 1 });
});

test('killed between charge and settlement: the same credential gets its token from the other process', async () => {
  // Settlement waits for the test.
  await sql(`create function wait_for_test() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(4711); return new; end $$`);
  await sql(
    `create trigger wait before update on machine_payments for each row execute function wait_for_test()`,
  );
  const holder = new pg.Client({ connectionString: databaseUrl });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('select pg_advisory_lock(4711)');

  const challenge = await newChallenge(1);
  const authorization = credential(challenge);
  const lost = pay(1, authorization).catch((error: NodeJS.ErrnoException) => error.code);
  const waiting = () =>
    sql<{ pid: number }>(
      `select pid from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`,
    );
  await expect.poll(waiting, { interval: 5 }).toHaveLength(1);
  services[1].child.kill('SIGKILL');
  expect(await lost).toBe('ECONNRESET');
  // The connection could still settle, because a process that was killed before it sent the statement leaves no trace.
  for (const { pid } of await waiting()) await sql('select pg_terminate_backend($1)', [pid]);
  await expect.poll(waiting, { interval: 5 }).toHaveLength(0);
  expect(await rowOf(challenge)).toMatchObject({ state: 'claimed', payment_ref: null });
  await holder.query('select pg_advisory_unlock(4711)');

  const responses = await Promise.all(Array.from({ length: 20 }, () => pay(0, authorization)));
  expect(tally(responses)).toEqual({ 200: 1, '402 INVALID_CHALLENGE': 19 });
  const { body } = responses.find(({ status }) => status === 200)!;
  expect(await works(0, body['access_token'])).toBe(true);
  expect(await rowOf(challenge)).toMatchObject({ state: 'settled' });
});
