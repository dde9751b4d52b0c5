import { describe, expect, test } from 'vitest';
import { connectTo } from '../support/database.ts';
import { newApp, newDeveloper, newHwid, newNonce, newUser } from '../support/fixtures.ts';
import { ALL_OK, newJourney, type Journey, type Outcome, type Step } from './journey.ts';
import { patiently, tally, type LightResponse, type LightOptions } from './load.ts';
import { startTwoProcesses } from './two-processes.ts';

const two = await startTwoProcesses({ TRUSTED_PROXIES: '127.0.0.1/32' });
const { client, sql } = two;
const [{ api }] = two.services;

const via = (address: string): LightOptions => ({ headers: { 'x-forwarded-for': address } });
const [THERE, ELSEWHERE] = [via('203.0.113.7'), via('198.51.100.7')];

const pathOf = ({ app }: Journey) => `/api/v2/dev/apps/${app.app_id}/bans`;

async function ban(journey: Journey, turn: number, target: object): Promise<string> {
  const { status, body } = await client(turn).post(pathOf(journey), target, journey.app.token);
  expect(status, JSON.stringify(body)).toBe(201);
  return String(body['ban_id']);
}

async function lift(journey: Journey, turn: number, banId: string): Promise<void> {
  const path = `${pathOf(journey)}/${banId}`;
  expect((await client(turn).call('DELETE', path, undefined, journey.app.token)).status).toBe(200);
}

const outcomes = (code: string, steps: readonly Step[], others: Partial<Outcome> = {}): Outcome => ({
  ...ALL_OK,
  ...Object.fromEntries(steps.map((step) => [step, code])),
  ...others,
});

describe('a ban and its removal at one process take effect on the next request to the other', () => {
  test('of a user', async () => {
    const journey = await newJourney(two);
    const banned = outcomes('USER_BANNED', ['login', 'loginV2', 'loginLicense', 'activate'], {
      verify: 'SESSION_INVALID',
      verifyV2: 'SESSION_INVALID',
    });
    for (let round = 0; round < 4; round += 1) {
      const id = await ban(journey, round, { kind: 'user', username: journey.owner.username.toUpperCase() });
      expect(await journey.walk(round + 1)).toEqual(banned);
      // From any machine and any address, and only with the right password.
      const other = await journey.step('login', round, ELSEWHERE, { hwid: newHwid() });
      expect(other.code).toBe('USER_BANNED');
      const wrong = { ...journey.owner, password: 'a wrong password' };
      expect((await client(round).login(journey.app.with(wrong))).code).toBe('INVALID_CREDENTIALS');
      await lift(journey, round + 1, id);
      // The session that was ended is not restored.
      for (const step of ['verify', 'verifyV2'] as const)
        expect((await journey.step(step, round)).code).toBe('SESSION_INVALID');
      expect(await journey.walk(round)).toEqual(ALL_OK);
    }
  });

  test('of a machine', async () => {
    const journey = await newJourney(two);
    const steps = ['register', 'login', 'loginV2', 'loginLicense', 'verify', 'verifyV2', 'activate'] as const;
    const banned = outcomes('HWID_BANNED', steps);
    for (const target of [{ hwid: journey.owner.hwid }, { username: journey.owner.username }]) {
      for (let round = 0; round < 2; round += 1) {
        const id = await ban(journey, round, { kind: 'hardware', ...target });
        expect(await journey.walk(round + 1)).toEqual(banned);
        // Another machine is not banned.
        const free = await journey.step('register', round + 1, {}, { hwid: newHwid() });
        expect(free.status).toBe(201);
        await lift(journey, round + 1, id);
        expect(await journey.walk(round)).toEqual(ALL_OK);
      }
    }
    // The ban is for one application. Another one admits the same machine.
    await ban(journey, 0, { kind: 'hardware', hwid: journey.owner.hwid });
    const other = await newApp(api);
    await newUser(api, other, { hwid: journey.owner.hwid });
  });

  test('of a network', async () => {
    const journey = await newJourney(two);
    const steps = ['register', 'login', 'loginV2', 'loginLicense', 'verify', 'verifyV2', 'activate'] as const;
    const banned = outcomes('ADDRESS_BANNED', steps);
    for (const network of [
      '203.0.113.7',
      '203.0.113.0/24',
      '0.0.0.0/1',
      '::ffff:203.0.113.0/120',
      '128.0.0.0/1',
    ]) {
      for (let round = 0; round < 2; round += 1) {
        const id = await ban(journey, round, { kind: 'network', network });
        const held = network === '0.0.0.0/1' ? ALL_OK : banned;
        expect(await journey.walk(round + 1, THERE), network).toEqual(held);
        await lift(journey, round + 1, id);
        expect(await journey.walk(round, THERE), network).toEqual(ALL_OK);
      }
    }
  });

  test.each([
    {
      network: '2001:db8:1::/48',
      inside: ['2001:db8:1::1', '2001:DB8:1:ffff::'],
      outside: ['2001:db8:2::1'],
    },
    { network: '2001:db8::1', inside: ['2001:db8::1', '2001:0db8:0:0::1'], outside: ['2001:db8::2'] },
    {
      network: '203.0.113.8/30',
      inside: ['203.0.113.11', '::ffff:203.0.113.8'],
      outside: ['203.0.113.12', '::1'],
    },
    { network: '0.0.0.0/0', inside: ['198.51.100.1', '::ffff:1.2.3.4'], outside: ['2001:db8::1'] },
    { network: '::/0', inside: ['2001:db8::1', '::2'], outside: ['198.51.100.1', '::ffff:198.51.100.1'] },
  ])('of $network, in any form of an address', async ({ network, inside, outside }) => {
    const journey = await newJourney(two);
    await ban(journey, 0, { kind: 'network', network });
    for (const turn of [0, 1]) {
      for (const address of inside)
        expect((await journey.step('verify', turn, via(address))).code, address).toBe('ADDRESS_BANNED');
      for (const address of outside)
        expect((await journey.step('verify', turn, via(address))).status, address).toBe(200);
    }
    // A client that is not a proxy cannot choose its address.
    const spoofed = { ...via(inside[0]!), from: '127.0.0.2' };
    expect((await journey.step('verifyV2', 0, spoofed)).code === 'ADDRESS_BANNED').toBe(
      network === '0.0.0.0/0',
    );
  });

  test('that expires', async () => {
    const journey = await newJourney(two);
    const ends = new Date(Date.now() + 86_400_000).toISOString();
    for (const [target, code] of [
      [{ kind: 'user', username: journey.owner.username }, 'USER_BANNED'],
      [{ kind: 'hardware', hwid: journey.owner.hwid }, 'HWID_BANNED'],
      [{ kind: 'network', network: '203.0.113.0/24' }, 'ADDRESS_BANNED'],
    ] as const) {
      const id = await ban(journey, 0, { ...target, expires_at: ends });
      expect((await journey.step('login', 1, THERE)).code).toBe(code);
      await sql(`update bans set expires_at = now() - interval '1 second' where ban_id = $1`, [id]);
      expect(await journey.walk(1, THERE)).toEqual(ALL_OK);
    }
  });
});

describe('a ban during logins', () => {
  /** Verifies every session at both processes. */
  async function expectAllDead(appId: string, logins: readonly LightResponse[]): Promise<void> {
    const begun = logins.filter(({ status }) => status === 200);
    for (const { body } of begun) {
      for (const turn of [0, 1]) {
        const response = await client(turn).verify({ app_id: appId, token: body['token'] });
        expect(response.code).toBe('SESSION_INVALID');
      }
    }
  }

  test('50 logins over two processes: after its 201, none of their sessions is valid anywhere', async () => {
    for (let round = 0; round < 3; round += 1) {
      const journey = await newJourney(two);
      const { app, owner } = journey;
      await app.patch({ hwid_lock: false, max_sessions: 100 });
      const responses: LightResponse[] = [];
      const logins = Array.from({ length: 50 }, async (_, turn) => {
        const hwid = newHwid();
        const response = await patiently(() =>
          turn % 2 === 0
            ? client(turn).login(app.with({ ...owner, hwid }))
            : client(turn).signed('login', app, { ...owner, hwid, nonce: newNonce() }),
        );
        responses.push(response);
      });
      await expect.poll(() => responses.length, { interval: 1 }).toBeGreaterThan(5);
      await ban(journey, round, { kind: 'user', username: owner.username });
      const [row] = await sql<{ live: number }>(
        'select count(*)::int as live from sessions where app_id = $1 and ended_at is null',
        [app.app_id],
      );
      expect(row!.live, 'when the ban responded').toBe(0);
      await Promise.all(logins);
      // Those verified earlier were accepted. How many more were depends on the speed.
      const { '200': begun = 0, '403 USER_BANNED': refused = 0 } = tally(responses);
      expect(begun).toBeGreaterThan(5);
      expect(begun + refused).toBe(50);
      await expectAllDead(app.app_id, responses);
    }
  });

  /**
   * Locks what a login locks and a ban of this kind waits for: the user, or the application.
   * @param how a login shares the application with others
   * @returns releases the lock
   */
  async function hold(kind: string, { app, owner }: Journey, how: 'alone' | 'shared') {
    const database = await connectTo(two.databaseUrl);
    await database.query('begin');
    if (kind === 'user') {
      const held = 'select 1 from users where app_id = $1 and username = $2 for no key update';
      await database.query(held, [app.app_id, owner.username]);
    } else {
      const lock = how === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock';
      await database.query(`select ${lock}(hashtextextended($1, 0))`, [app.app_id]);
    }
    return async () => void (await database.query('commit'));
  }

  const waiting = async () => {
    const [row] = await sql<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return row!.n;
  };
  const targets = {
    user: ({ owner }: Journey) => ({ kind: 'user', username: owner.username }),
    hardware: ({ owner }: Journey) => ({ kind: 'hardware', hwid: owner.hwid }),
    network: () => ({ kind: 'network', network: '203.0.113.0/24' }),
  };
  const kinds = [
    { kind: 'user', code: 'USER_BANNED' },
    { kind: 'hardware', code: 'HWID_BANNED' },
    { kind: 'network', code: 'ADDRESS_BANNED' },
  ] as const;

  test.each(kinds)('$kind: logins that wait for it are refused', async ({ kind, code }) => {
    const journey = await newJourney(two);
    // A login in progress delays the ban, and the ban delays later logins.
    const free = await hold(kind, journey, 'shared');
    const banning = ban(journey, 0, targets[kind](journey));
    await expect.poll(waiting, { interval: 5 }).toBe(1);
    const steps = ['login', 'loginV2', 'loginLicense', 'activate'] as const;
    const behind = steps.map((step, turn) => journey.step(step, turn, THERE));
    await expect.poll(waiting, { interval: 5 }).toBe(1 + steps.length);
    await free();
    await banning;
    expect((await Promise.all(behind)).map((response) => response.code)).toEqual(steps.map(() => code));
  });

  test.each(kinds)(
    '$kind: the session of a login that comes before it is refused or ended',
    async ({ kind, code }) => {
      const journey = await newJourney(two);
      const free = await hold(kind, journey, 'alone');
      const before = journey.step('login', 0, THERE);
      await expect.poll(waiting, { interval: 5 }).toBe(1);
      const banning = ban(journey, 1, targets[kind](journey));
      await expect.poll(waiting, { interval: 5 }).toBe(2);
      await free();
      expect((await before).status).toBe(200);
      await banning;
      for (const turn of [0, 1]) {
        const verified = await journey.step('verify', turn, THERE);
        expect(verified.code).toBe(kind === 'user' ? 'SESSION_INVALID' : code);
      }
    },
  );

  test('user: a ban does not wait for transactions that share a lock on the application', async () => {
    const journey = await newJourney(two);
    const free = await hold('application', journey, 'shared');
    await ban(journey, 0, targets.user(journey));
    const path = `/api/v2/dev/apps/${journey.app.app_id}/users`;
    const found = await client(1).call(
      'GET',
      `${path}?q=${journey.owner.username}`,
      undefined,
      journey.app.token,
    );
    const [user] = found.body['data'] as { user_id: string }[];
    for (const change of ['unban', 'ban', 'unban']) {
      const response = await client(1).post(`${path}/${user!.user_id}/${change}`, {}, journey.app.token);
      expect(response.status, JSON.stringify(response.body)).toBe(200);
    }
    await free();
  });

  test('of a machine, created and deleted at once by both processes: the remaining bans are in force', async () => {
    const journey = await newJourney(two);
    const hwid = journey.owner.hwid;
    for (let round = 0; round < 4; round += 1) {
      const made = await Promise.all(
        Array.from({ length: 12 }, (_, turn) => ban(journey, turn, { kind: 'hardware', hwid })),
      );
      const kept = round % 2 === 0 ? made.slice(0, 1) : [];
      const gone = made.slice(kept.length);
      const [more] = await Promise.all([
        ban(journey, round, { kind: 'network', network: '192.0.2.0/24' }),
        ...gone.map((id, turn) => lift(journey, turn, id)),
      ]);
      for (const turn of [0, 1]) {
        const { code = 'ok' } = await journey.step('verify', turn, THERE);
        expect(code).toBe(kept.length > 0 ? 'HWID_BANNED' : 'ok');
        expect((await journey.step('verify', turn, via('192.0.2.1'))).status).toBe(403);
      }
      await Promise.all([...kept, more].map((id, turn) => lift(journey, turn, id)));
      for (const turn of [0, 1])
        expect((await journey.step('verify', turn, via('192.0.2.1'))).status).toBe(200);
    }
  });

  test('of 20 concurrent deletions of one ban, one finds it', async () => {
    const journey = await newJourney(two);
    const id = await ban(journey, 0, { kind: 'network', network: '203.0.113.0/24' });
    const path = `${pathOf(journey)}/${id}`;
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, turn) =>
        client(turn).call('DELETE', path, undefined, journey.app.token),
      ),
    );
    expect(tally(responses)).toEqual({ 200: 1, '404 BAN_NOT_FOUND': 19 });
  });
});

test('bans are invisible to other developers, and have no effect in their applications', async () => {
  const journey = await newJourney(two);
  const stranger = await newDeveloper(api);
  const id = await ban(journey, 0, { kind: 'network', network: '203.0.113.0/24' });
  const theirs = await newApp(api, stranger);
  for (const [method, path, body] of [
    ['GET', pathOf(journey)],
    ['POST', pathOf(journey), { kind: 'network', network: '0.0.0.0/0' }],
    ['DELETE', `${pathOf(journey)}/${id}`],
    ['DELETE', `/api/v2/dev/apps/${theirs.app_id}/bans/${id}`],
  ] as const) {
    for (const turn of [0, 1])
      expect((await client(turn).call(method, path, body, stranger.token)).status, path).toBe(404);
  }
  expect((await journey.step('verify', 1, THERE)).code).toBe('ADDRESS_BANNED');
  expect((await journey.step('verify', 1, ELSEWHERE)).status).toBe(200);
});
