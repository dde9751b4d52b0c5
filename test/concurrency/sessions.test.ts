import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newApp, newHwid, newSession, newUser, unique } from '../support/fixtures.ts';
import { HASHES_AT_ONCE } from '../support/hashing.ts';
import { LightClient, patiently, quantile, shuffled, tally, type LightResponse } from './load.ts';
import { startTwoProcesses } from './two-processes.ts';

const two = await startTwoProcesses();
const { client, sql } = two;
const [{ api }] = two.services;

async function liveSessions(appId: string): Promise<number> {
  const [row] = await sql<{ live: number }>(
    'select count(*)::int as live from sessions where app_id = $1 and ended_at is null and expires_at > now()',
    [appId],
  );
  return row!.live;
}

/** Verifies every session at both processes. @returns the valid tokens */
async function validTokens(appId: string, logins: readonly LightResponse[]): Promise<string[]> {
  const tokens = logins.map(({ body }) => String(body['token']));
  const valid: string[] = [];
  await Promise.all(
    tokens.map(async (token) => {
      const [one, other] = await Promise.all(
        [0, 1].map((turn) => client(turn).verify({ app_id: appId, token })),
      );
      expect(one!.status, 'both processes agree').toBe(other!.status);
      if (one!.status === 200) valid.push(token);
      else expect(one!.code).toBe('SESSION_INVALID');
    }),
  );
  return valid;
}

test('48 logins of one user on 48 machines over two processes: never more live sessions than allowed', async () => {
  const app = await newApp(api);
  await app.patch({ hwid_lock: false, max_sessions: 3 });
  const user = await newUser(api, app);
  let largest = 0;
  let over = false;
  const watching = (async () => {
    // The last count is after the last login.
    for (let last = false; !last; await delay(2)) {
      last = over;
      largest = Math.max(largest, await liveSessions(app.app_id));
    }
  })();
  const logins = await Promise.all(
    Array.from({ length: 48 }, (_, turn) =>
      patiently(() => client(turn).login(app.with({ ...user, hwid: newHwid() }))),
    ),
  );
  over = true;
  await watching;
  expect(tally(logins)).toEqual({ 200: 48 });
  expect(largest).toBe(3);
  expect(await liveSessions(app.app_id)).toBe(3);
  expect(await validTokens(app.app_id, logins)).toHaveLength(3);
});

test('two machines that log in again and again have one live session each', async () => {
  const app = await newApp(api);
  await app.patch({ hwid_lock: false, max_sessions: 5 });
  const user = await newUser(api, app);
  const machines = [newHwid(), newHwid()];
  const logins = await Promise.all(
    shuffled(Array.from({ length: 24 }, (_, n) => machines[n % 2]!)).map((hwid, turn) =>
      patiently(() => client(turn).login(app.with({ ...user, hwid }))),
    ),
  );
  expect(tally(logins)).toEqual({ 200: 24 });
  expect(await liveSessions(app.app_id)).toBe(2);
  const valid = await validTokens(app.app_id, logins);
  expect(valid).toHaveLength(2);
  const owners = valid.map(
    (token) => (logins.find(({ body }) => body['token'] === token)!.body['user'] as { hwid: string }).hwid,
  );
  expect(owners.toSorted()).toEqual(machines.toSorted());
});

test('the first login of an unbound user, from 30 machines over two processes, binds one', async () => {
  const app = await newApp(api);
  for (let round = 0; round < 3; round += 1) {
    const user = await newUser(api, app);
    await sql('update users set hwid_digest = null where username = $1', [user.username]);
    const hwids = Array.from({ length: 30 }, newHwid);
    const logins = await Promise.all(
      hwids.map((hwid, turn) => patiently(() => client(turn).login(app.with({ ...user, hwid })))),
    );
    expect(tally(logins)).toEqual({ 200: 1, '403 HWID_MISMATCH': 29 });
    expect(
      await validTokens(
        app.app_id,
        logins.filter(({ status }) => status === 200),
      ),
    ).toHaveLength(1);
    const winner = hwids[logins.findIndex(({ status }) => status === 200)]!;
    const [again, other] = await Promise.all(
      [winner, newHwid()].map((hwid, turn) => client(turn).login(app.with({ ...user, hwid }))),
    );
    expect([again!.status, other!.code]).toEqual([200, 'HWID_MISMATCH']);
  }
  expect(await liveSessions(app.app_id)).toBe(3);
});

test('20 registrations of one name in several spellings over two processes: one account', async () => {
  const app = await newApp(api);
  for (const name of ['straße', 'Ångström', 'ada']) {
    const base = unique(name);
    const spellings = [
      base,
      base.toUpperCase(),
      base.normalize('NFD'),
      `  ${base} `,
      // Full-width letters are equivalent letters.
      [...base].map((c) => (/[a-z]/.test(c) ? String.fromCodePoint(c.codePointAt(0)! + 0xfee0) : c)).join(''),
    ];
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, turn) =>
        patiently(() =>
          client(turn).register(
            app.with({
              username: spellings[turn % spellings.length],
              password: 'a user password',
              hwid: newHwid(),
            }),
          ),
        ),
      ),
    );
    expect(tally(responses), base).toEqual({ 201: 1, '409 USERNAME_TAKEN': 19 });
  }
  const [row] = await sql<{ counted: number; rows: number }>(
    `select users as counted, (select count(*)::int from users where app_id = $1) as rows
     from application_usage where app_id = $1`,
    [app.app_id],
  );
  expect(row).toEqual({ counted: 3, rows: 3 });
});

test('20 registrations of one developer over two processes: one account', async () => {
  const email = `${unique('Race')}@Example.com`;
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, turn) =>
      patiently(() =>
        client(turn).post('/api/v2/dev/register', {
          email: turn % 3 === 0 ? email.toLowerCase() : email,
          password: 'a developer password',
        }),
      ),
    ),
  );
  expect(tally(responses)).toEqual({ 201: 1, '409 EMAIL_TAKEN': 19 });
});

test('a session is ended once, and every later verification fails', async () => {
  const app = await newApp(api);
  for (let round = 0; round < 5; round += 1) {
    const { token } = await newSession(api, app);
    let ended = Infinity;
    const late: LightResponse[] = [];
    let over = false;
    const verifying = Promise.all(
      Array.from({ length: 6 }, async (_, turn) => {
        while (!over) {
          const began = performance.now();
          const response = await client(turn).verify({ app_id: app.app_id, token });
          if (began > ended) late.push(response);
        }
      }),
    );
    const logouts = await Promise.all(
      Array.from({ length: 20 }, async (_, turn) => {
        const response = await client(turn).logout({ app_id: app.app_id, token });
        if (response.status === 200) ended = Math.min(ended, performance.now());
        return response;
      }),
    );
    try {
      await expect.poll(() => late.length).toBeGreaterThan(6);
    } finally {
      over = true;
    }
    await verifying;
    expect(tally(logouts)).toEqual({ 200: 1, '401 SESSION_INVALID': 19 });
    expect(tally(late)).toEqual({ '401 SESSION_INVALID': late.length });
  }
});

test('pauses and resumes at once over two processes neither lose nor double time', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const [key] = await app.keys(1, 'Standard', 30);
  await client(0).activate(app.with({ username: user.username, license_key: key }));
  const { body: session } = await client(0).login(app.with(user));
  const before = await client(0).verify({ app_id: app.app_id, token: session['token'] });

  // Every change of the row, as the database sees it.
  await sql(`create table changes (n bigint generated always as identity, was jsonb, became jsonb)`);
  await sql(`create function note_change() returns trigger language plpgsql as
    'begin insert into changes (was, became) values (to_jsonb(old), to_jsonb(new)); return new; end'`);
  await sql(
    'create trigger note_change after update on applications for each row execute function note_change()',
  );
  const began = Date.now();
  // In any order, 24 clients that pause and resume 4 times each cause at least 4 pauses.
  const responses: LightResponse[] = [];
  await Promise.all(
    Array.from({ length: 24 }, async (_, worker) => {
      for (let n = 0; n < 8; n += 1) {
        const paused = n % 2 === 0;
        const wanted = (worker + n) % 3 === 0 ? { status: paused ? 'paused' : 'active' } : { paused };
        const path = `/api/v2/dev/apps/${app.app_id}`;
        responses.push(await client(worker + n).call('PATCH', path, wanted, app.token));
      }
    }),
  );
  await app.patch({ paused: false });
  const elapsed = Date.now() - began;
  await sql('drop trigger note_change on applications');
  expect(tally(responses)).toEqual({ 200: 192 });

  type Row = { status: string; paused_at: string | null; paused_total_ms: number; updated_at: string };
  const changes = await sql<{ was: Row; became: Row }>('select was, became from changes order by n');
  expect(changes).toHaveLength(193);
  let total = 0;
  let pauses = 0;
  for (const { was, became } of changes) {
    expect(was.paused_total_ms).toBe(total);
    if (was.status === 'paused' && became.status === 'active') {
      pauses += 1;
      total += Date.parse(became.updated_at) - Date.parse(was.paused_at!);
    }
    if (was.status === 'paused' && became.status === 'paused') expect(became.paused_at).toBe(was.paused_at);
    expect(became.paused_total_ms).toBe(total);
  }
  expect(pauses).toBeGreaterThan(3);
  expect(total).toBeLessThanOrEqual(elapsed);

  const after = await client(1).verify({ app_id: app.app_id, token: session['token'] });
  const end = (response: LightResponse) => Date.parse(String(response.body['subscription_expires_at']));
  expect(end(after) - end(before)).toBe(total);
});

test('too many logins at once: the surplus is refused with Retry-After, and verification does not wait', async () => {
  const app = await newApp(api);
  const { token } = await newSession(api, app);
  const flooder = await newUser(api, app);
  const flooding = new LightClient(two.services[0].api.baseUrl, Infinity);
  const accepted: LightResponse[] = [];
  const refused: LightResponse[] = [];
  const verified: LightResponse[] = [];
  let over = false;
  const work = Promise.all([
    ...Array.from({ length: 2 * HASHES_AT_ONCE + 26 }, async () => {
      while (!over) {
        const response = await flooding.login(app.with(flooder));
        (response.status === 200 ? accepted : refused).push(response);
        if (response.status !== 200) await delay(200);
      }
    }),
    (async () => {
      for (; !over; await delay(5)) verified.push(await client(0).verify({ app_id: app.app_id, token }));
    })(),
  ]);
  const enough = () => Math.min(accepted.length, refused.length, verified.length);
  try {
    await expect.poll(enough, { timeout: 25_000 }).toBeGreaterThanOrEqual(30);
  } finally {
    over = true;
  }
  await work;

  expect(tally(verified)).toEqual({ 200: verified.length });
  expect(tally(refused)).toEqual({ '429 TOO_MANY_REQUESTS': refused.length });
  for (const { headers } of refused) {
    expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(headers.get('content-type')).toBe('application/problem+json');
  }
  const within = (responses: readonly LightResponse[], share: number) =>
    quantile(
      responses.map(({ ms }) => ms),
      share,
    );
  expect(within(refused, 1)).toBeLessThan(6_000);
  // Without delay, not after those that wait.
  expect(within(refused, 0.5)).toBeLessThan(within(accepted, 1));
  expect(within(verified, 0.9)).toBeLessThan(1_000);
  expect(within(verified, 0.5)).toBeLessThan(within(accepted, 0.5));
  console.log(
    `${accepted.length} logins, p50 ${within(accepted, 0.5).toFixed(0)} ms, with ${refused.length} refused; ` +
      `verify p50 ${within(verified, 0.5).toFixed(0)} ms, worst ${within(verified, 1).toFixed(0)} ms`,
  );
}, 60_000);
