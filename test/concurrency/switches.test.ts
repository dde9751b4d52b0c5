import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { newHwid, newNonce } from '../support/fixtures.ts';
import { temporaryFolder } from '../support/processes.ts';
import { ALL_OK, newJourney, type Journey, type Outcome } from './journey.ts';
import type { LightOptions } from './load.ts';
import { startTwoProcesses } from './two-processes.ts';

const folder = await temporaryFolder(afterAll);
const list = join(folder, 'networks.txt');
await writeFile(list, '203.0.113.0/24\n2001:db8:bad::/48\n');
const proxied = { TRUSTED_PROXIES: '127.0.0.1/32' };
const two = await startTwoProcesses({ ...proxied, VPN_NETWORKS: list });
const blind = await startTwoProcesses({
  ...proxied,
  VPN_NETWORKS: join(folder, 'no such file'),
  LOG_LEVEL: 'fatal',
});

const via = (address: string): LightOptions => ({ headers: { 'x-forwarded-for': address } });
const [VPN, HOME] = [via('203.0.113.7'), via('198.51.100.7')];

/** Sets a switch at one process and walks at the other, then the reverse. */
async function expectAtOnce(
  journey: Journey,
  changes: object,
  changed: Outcome,
  back: object,
  from?: LightOptions,
): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await journey.patch(round, changes);
    expect(await journey.walk(round + 1, from), JSON.stringify(changes)).toEqual(changed);
    await journey.patch(round + 1, back);
    expect(await journey.walk(round, from), JSON.stringify(back)).toEqual(ALL_OK);
  }
}

describe('a switch that one process sets takes effect on the next request to the other', () => {
  const paused = 'APPLICATION_PAUSED';
  const inactive = 'APPLICATION_INACTIVE';

  test('paused', async () => {
    const journey = await newJourney(two);
    const logins = { login: paused, loginV2: paused, loginLicense: paused };
    await expectAtOnce(journey, { paused: true }, { ...ALL_OK, ...logins }, { paused: false });
    await journey.patch(0, { pause_sessions: true });
    const sessions = { ...logins, verify: paused, verifyV2: paused };
    await expectAtOnce(journey, { paused: true }, { ...ALL_OK, ...sessions }, { paused: false });
    await journey.patch(1, { pause_sessions: false, paused: true });
    await expectPauseOfSessions(journey);
  });

  /** While it is paused, only the other switch matters. */
  async function expectPauseOfSessions(journey: Journey): Promise<void> {
    for (let round = 0; round < 4; round += 1) {
      await journey.patch(round, { pause_sessions: true });
      for (const step of ['verify', 'verifyV2'] as const)
        expect((await journey.step(step, round + 1)).code).toBe(paused);
      await journey.patch(round + 1, { pause_sessions: false });
      for (const step of ['verify', 'verifyV2'] as const)
        expect((await journey.step(step, round)).status).toBe(200);
    }
  }

  test('status disabled', async () => {
    const journey = await newJourney(two);
    const off = Object.fromEntries(Object.keys(ALL_OK).map((step) => [step, inactive])) as Outcome;
    await expectAtOnce(journey, { status: 'disabled' }, off, { status: 'active' });
  });

  test('require_subscription', async () => {
    const journey = await newJourney(two);
    const shift = (years: number) =>
      two.sql(
        `update subscriptions set starts_at = starts_at + $2::interval, ends_at = ends_at + $2::interval
         where user_id = (select user_id from users where username = $1)`,
        [journey.owner.username, `${years} years`],
      );
    const expired = 'SUBSCRIPTION_EXPIRED';
    // The user has a subscription, so nothing changes for them.
    await expectAtOnce(journey, { require_subscription: true }, ALL_OK, { require_subscription: false });
    for (let round = 0; round < 4; round += 1) {
      await journey.patch(round, { require_subscription: true });
      await shift(-90);
      for (const step of ['login', 'loginV2', 'loginLicense', 'verify', 'verifyV2'] as const)
        expect((await journey.step(step, round + 1)).code, step).toBe(expired);
      await journey.patch(round + 1, { require_subscription: false });
      for (const step of ['login', 'loginV2', 'loginLicense', 'verify', 'verifyV2'] as const)
        expect((await journey.step(step, round)).status, step).toBe(200);
      await shift(90);
    }
  });

  test('hwid_lock', async () => {
    const journey = await newJourney(two);
    const other = { hwid: newHwid() };
    for (let round = 0; round < 4; round += 1) {
      await journey.patch(round, { hwid_lock: true });
      for (const step of ['login', 'loginV2', 'verify', 'verifyV2'] as const)
        expect((await journey.step(step, round + 1, {}, other)).code, step).toBe('HWID_MISMATCH');
      expect((await journey.step('loginLicense', round + 1, {}, other)).code).toBe('HWID_MISMATCH');
      await journey.patch(round + 1, { hwid_lock: false });
      for (const step of ['login', 'loginV2', 'verify', 'verifyV2'] as const)
        expect((await journey.step(step, round, {}, other)).status, step).toBe(200);
      // A key never replaces the password on another user's machine.
      expect((await journey.step('loginLicense', round, {}, other)).code).toBe('HWID_MISMATCH');
    }
  });

  test('integrity_check, and its list of hashes', async () => {
    const journey = await newJourney(two);
    const [allowed, changed] = ['ab'.repeat(32), 'cd'.repeat(32)];
    const init = async (turn: number, hash?: string) => {
      const body = journey.app.with(hash === undefined ? {} : { executable_hash: hash });
      return (await two.client(turn).post('/api/v1/client/init', body)).code ?? 'ok';
    };
    for (let round = 0; round < 4; round += 1) {
      await journey.patch(round, { integrity_check: true, executable_hashes: [allowed] });
      const strict = [await init(round + 1), await init(round + 1, changed), await init(round + 1, allowed)];
      expect(strict).toEqual(['INTEGRITY_FAILED', 'INTEGRITY_FAILED', 'ok']);
      await journey.patch(round + 1, { executable_hashes: [changed] });
      expect([await init(round, changed), await init(round, allowed)]).toEqual(['ok', 'INTEGRITY_FAILED']);
      await journey.patch(round, { integrity_check: false });
      expect(await init(round + 1)).toBe('ok');
    }
  });

  test('require_signatures', async () => {
    const journey = await newJourney(two);
    const { app, owner, session, key } = journey;
    const { app_id } = app;
    const unsigned = (turn: number) => {
      const post = async (operation: string, body: object) =>
        (await two.client(turn).post(`/api/v2/client/${operation}`, { app_id, ...body })).code ?? 'ok';
      return Promise.all([
        post('verify-session', { token: session.token }),
        post('verify-session', { token: session.token, nonce: newNonce() }),
        post('logout', { session_token: 'x'.repeat(22) }),
        post('login-license', { license_key: key, hwid: newHwid() }),
      ]);
    };
    const lax = ['ok', 'ok', 'SESSION_INVALID', 'HWID_MISMATCH'];
    const required = 'SIGNATURE_REQUIRED';
    for (let round = 0; round < 4; round += 1) {
      await journey.patch(round, { require_signatures: true });
      expect(await unsigned(round + 1)).toEqual([required, required, 'SESSION_INVALID', required]);
      const logout = { app_id, session_token: session.token };
      expect((await two.client(round + 1).post('/api/v2/client/logout', logout)).code).toBe(required);
      // verify-session of v1 accepts no signature.
      expect(await journey.walk(round + 1), 'signed').toEqual({ ...ALL_OK, verify: required });
      await journey.patch(round + 1, { require_signatures: false });
      expect(await unsigned(round)).toEqual(lax);
    }
    expect((await two.client(0).login(app.with(owner))).status).toBe(200);
  });

  test('block_vpn', async () => {
    const journey = await newJourney(two);
    const blocked = Object.fromEntries(Object.keys(ALL_OK).map((step) => [step, 'VPN_BLOCKED'])) as Outcome;
    await expectAtOnce(journey, { block_vpn: true }, blocked, { block_vpn: false }, VPN);
    await journey.patch(0, { block_vpn: true, vpn_fail_closed: true });
    for (const address of [
      '203.0.113.255',
      '::ffff:203.0.113.1',
      '2001:DB8:BAD::1',
      '198.51.100.1, 203.0.113.9',
    ])
      expect((await journey.step('verifyV2', 1, via(address))).code, address).toBe('VPN_BLOCKED');
    for (const address of ['203.0.114.1', '202.255.255.255', '2001:db8:bae::1', '203.0.113.9, 198.51.100.1'])
      expect((await journey.step('verifyV2', 1, via(address))).status, address).toBe(200);
    for (const turn of [0, 1]) expect(await journey.walk(turn, HOME)).toEqual(ALL_OK);
    // The header is ignored unless it comes from a proxy.
    const spoofed = await journey.step('verify', 0, { ...VPN, from: '127.0.0.2' });
    expect(spoofed.status).toBe(200);
  });

  test('vpn_fail_closed, if the list cannot be read', async () => {
    const journey = await newJourney(blind);
    const blocked = Object.fromEntries(Object.keys(ALL_OK).map((step) => [step, 'VPN_BLOCKED'])) as Outcome;
    for (const from of [VPN, HOME]) {
      await journey.patch(0, { block_vpn: true });
      for (let round = 0; round < 4; round += 1) {
        await journey.patch(round, { vpn_fail_closed: true });
        expect(await journey.walk(round + 1, from)).toEqual(blocked);
        await journey.patch(round + 1, { vpn_fail_closed: false });
        expect(await journey.walk(round, from)).toEqual(ALL_OK);
      }
      await journey.patch(0, { block_vpn: false, vpn_fail_closed: true });
      expect(await journey.walk(1, from)).toEqual(ALL_OK);
      await journey.patch(0, { vpn_fail_closed: false });
    }
  });
});

describe('a change while logins wait for it', () => {
  const HELD = 'select pg_advisory_lock(hashtextextended($1, 0))';
  const FREE = 'select pg_advisory_unlock(hashtextextended($1, 0))';

  test.each([
    { changes: { paused: true }, code: 'APPLICATION_PAUSED' },
    { changes: { status: 'disabled' }, code: 'APPLICATION_INACTIVE' },
    { changes: { block_vpn: true }, code: 'VPN_BLOCKED' },
  ])('$changes: waiting logins are refused', async ({ changes, code }) => {
    const journey = await newJourney(two);
    const { app_id } = journey.app;
    const waiting = async () => {
      const [row] = await two.sql<{ n: number }>(
        `select count(*)::int as n from pg_locks
         where locktype = 'advisory' and not granted
           and database = (select oid from pg_database where datname = current_database())`,
      );
      return row!.n;
    };
    await two.sql(HELD, [app_id]);
    const change = journey.patch(0, changes);
    await expect.poll(waiting, { interval: 5 }).toBe(1);
    const steps = ['login', 'loginV2', 'loginLicense'] as const;
    const logins = steps.map((step, turn) => journey.step(step, turn, VPN));
    await expect.poll(waiting, { interval: 5 }).toBe(1 + steps.length);
    await two.sql(FREE, [app_id]);
    await change;
    expect((await Promise.all(logins)).map((response) => response.code)).toEqual(steps.map(() => code));
    const [row] = await two.sql<{ n: number }>(
      'select count(*)::int as n from sessions where app_id = $1 and ended_at is null',
      [app_id],
    );
    // The session from before the change.
    expect(row!.n).toBe(1);
  });
});
