import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { byteaArray } from '../../src/platform/database/bytea-array.ts';
import { createSessionLookup } from '../../src/licensing/sessions/session-lookup.ts';
import { tokenDigest } from '../../src/foundation/tokens/tokens.ts';
import { DAY } from '../support/clock.ts';
import { newApp, newDeveloper, newHwid, newSession, newUser, type App } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService();
const { api } = service;

/** Skips the contract check of the test client, which would keep requests from arriving together. */
async function call(path: string, body: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${service.baseUrl}/api/v1/client/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('many verifications at once', () => {
  test('each of 600 gets its own response', async () => {
    const apps = await Promise.all([newApp(api), newApp(api), newApp(api)]);
    const people: { app: App; session: Awaited<ReturnType<typeof newSession>>; index: number }[] = [];
    for (const app of apps) {
      const [key] = await app.keys(1, 'Pro', 10);
      for (let index = 0; index < 5; index++) {
        const session = await newSession(api, app);
        if (index === 0)
          await api.activate(app.with({ username: session.owner.username, license_key: key! }));
        if (index === 4) await api.logout({ app_id: app.app_id, token: session.token });
        people.push({ app, session, index });
      }
    }
    await apps[2]!.patch({ status: 'paused', pause_sessions: true });

    interface Case {
      readonly request: object;
      readonly expected: object;
    }
    const cases: Case[] = Array.from({ length: 600 }, (_, n) => {
      const { app, session, index } = people[(n * 7) % people.length]!;
      const token = n % 2 ? session.token : session.session_id;
      const request = { app_id: app.app_id, token };
      if (n % 11 === 0) {
        const unknown = n % 2 ? randomBytes(80).toString('base64url') : randomBytes(16).toString('base64url');
        return {
          request: { ...request, token: unknown },
          expected: { status: 401, code: 'SESSION_INVALID' },
        };
      }
      if (n % 13 === 0) {
        const stranger = apps[(apps.indexOf(app) + 1) % 3]!;
        return {
          request: { ...request, app_id: stranger.app_id },
          expected: { status: 401, code: 'SESSION_INVALID' },
        };
      }
      if (index === 4) return { request, expected: { status: 401, code: 'SESSION_INVALID' } };
      if (app === apps[2]) return { request, expected: { status: 403, code: 'APPLICATION_PAUSED' } };
      if (n % 5 === 0)
        return { request: { ...request, hwid: newHwid() }, expected: { status: 403, code: 'HWID_MISMATCH' } };
      return {
        request: { ...request, hwid: session.owner.hwid },
        expected: {
          status: 'success',
          user_id: session.user!.id,
          username: session.owner.username,
          ...(index === 0 && { subscription_tier: 'Pro' }),
        },
      };
    });
    const responses = await Promise.all(cases.map(({ request }) => call('verify-session', request)));
    for (const [n, { expected }] of cases.entries()) {
      expect(responses[n]!.body, `request ${n}`).toMatchObject(expected);
      if (!('subscription_tier' in expected))
        expect(responses[n]!.body).not.toHaveProperty('subscription_tier');
    }
  });

  test('a session that is verified a hundred times while it ends', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    const request = { app_id: app.app_id, token: session.token };
    const before = Array.from({ length: 100 }, () => call('verify-session', request));
    const logout = call('logout', request);
    await logout;
    const after = Array.from({ length: 100 }, () => call('verify-session', request));
    for (const { status } of await Promise.all(before)) expect([200, 401]).toContain(status);
    for (const { status } of await Promise.all(after)) expect(status).toBe(401);
  });

  test('a response reflects every change before its request', async () => {
    const app = await newApp(api);
    const session = await newSession(api, app);
    for (let round = 0; round < 30; round++) {
      const pause_sessions = true;
      await app.patch({ status: round % 2 ? 'active' : 'paused', pause_sessions });
      const { status } = await call('verify-session', { app_id: app.app_id, token: session.token });
      expect(status, `round ${round}`).toBe(round % 2 ? 200 : 403);
    }
  });
});

describe('the lookup itself', () => {
  /** A pool whose results the test resolves. */
  function heldPool() {
    const queries: {
      values: [Buffer, Buffer];
      result: PromiseWithResolvers<{ rows: unknown[][] }>;
    }[] = [];
    const query = ({ values }: { values: [Buffer, Buffer] }) => {
      const result = Promise.withResolvers<{ rows: unknown[][] }>();
      queries.push({ values, result });
      return result.promise;
    };
    const connect = async () => ({ query, release: () => {} });
    return { pool: { connect } as unknown as pg.Pool, queries };
  }
  const tick = () => new Promise<void>((resolve) => setImmediate(resolve));
  const settle = async () => {
    for (let index = 0; index < 4; index++) await tick();
  };
  /** The columns of a row, as text. */
  const row = (place: number, userId: string) => [
    String(place), '\\x00', 'app', userId, userId, '\\x00', '2026-01-01 00:00:00+00', null,
    'active', 't', 'f', 'f', null, '0', null, null,
  ]; // prettier-ignore

  test('a lookup during a running statement waits for the next one', async () => {
    const { pool, queries } = heldPool();
    const lookup = createSessionLookup(pool);
    const digest = tokenDigest('a');
    const early = lookup.find('token', digest);
    await settle();
    expect(queries).toHaveLength(1);
    const late = lookup.find('token', digest);
    await settle();
    expect(queries).toHaveLength(1);
    queries[0]!.result.resolve({ rows: [row(1, 'before')] });
    await settle();
    expect(queries, 'the later lookup has a statement of its own').toHaveLength(2);
    queries[1]!.result.resolve({ rows: [] });
    expect((await early)?.userId).toBe('before');
    expect(await late).toBeUndefined();
  });

  test('a second connection helps only with more than a batch', async () => {
    const { pool, queries } = heldPool();
    const lookup = createSessionLookup(pool);
    const request = (n: number) => void lookup.find('token', tokenDigest(String(n))).catch(() => {});
    request(0);
    await settle();
    for (let n = 1; n <= 64; n++) request(n);
    await settle();
    expect(queries).toHaveLength(1);
    request(65);
    await settle();
    expect(queries).toHaveLength(2);
    for (let n = 66; n <= 300; n++) request(n);
    await settle();
    expect(queries, 'and no third').toHaveLength(2);
  });

  test('rows out of order, both kinds with one digest, and one digest twice', async () => {
    const { pool, queries } = heldPool();
    const lookup = createSessionLookup(pool);
    const [a, b] = [tokenDigest('a'), tokenDigest('b')];
    const requested = [
      lookup.find('token', a),
      lookup.find('session_id', a),
      lookup.find('token', b),
      lookup.find('token', a),
      lookup.find('session_id', b),
    ];
    await settle();
    expect(queries).toHaveLength(1);
    const [tokens, ids] = queries[0]!.values;
    expect(tokens).toEqual(byteaArray([a, b]));
    expect(ids).toEqual(byteaArray([a, b]));
    queries[0]!.result.resolve({ rows: [row(3, 'id a'), row(2, 'token b'), row(1, 'token a')] });
    const responses = await Promise.all(requested);
    expect(responses.map((facts) => facts?.userId)).toEqual([
      'token a',
      'id a',
      'token b',
      'token a',
      undefined,
    ]);
  });

  test('a failure rejects all pending lookups and none after them', async () => {
    const { pool, queries } = heldPool();
    const lookup = createSessionLookup(pool);
    const requested = Array.from({ length: 200 }, (_, n) => lookup.find('token', tokenDigest(String(n))));
    const settled = Promise.allSettled(requested);
    await settle();
    let received = 0;
    while (received < queries.length) {
      queries[received]!.result.reject(new Error('lost'));
      received += 1;
      await settle();
    }
    expect((await settled).every(({ status }) => status === 'rejected')).toBe(true);
    const next = lookup.find('token', tokenDigest('0'));
    await settle();
    queries.at(-1)!.result.resolve({ rows: [row(1, 'found')] });
    expect((await next)?.userId).toBe('found');
  });

  test('a pool that throws synchronously fails one batch only', async () => {
    let calls = 0;
    const query = () => {
      calls += 1;
      if (calls === 1) throw new Error('ended');
      return Promise.resolve({ rows: [row(1, 'found')] });
    };
    const pool = { connect: async () => ({ query, release: () => {} }) } as unknown as pg.Pool;
    const lookup = createSessionLookup(pool);
    await expect(lookup.find('token', tokenDigest('a'))).rejects.toThrow('ended');
    expect((await lookup.find('token', tokenDigest('a')))?.userId).toBe('found');
  });
});

test('no request is a 5xx when a long-lived and a lifetime subscription share a batch with others', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const owner = await newUser(api, app);
  const keys = [...(await app.keys(90, 'Standard', 36_500)), ...(await app.keys(1, 'VIP', null))];
  for (const license_key of keys) {
    const { status } = await api.activate(app.with({ username: owner.username, license_key }));
    expect([200, 400]).toContain(status);
  }
  await app.patch({ status: 'paused' });
  service.clock.advance(3_000 * DAY);
  const signedIn = await api.post<{ token: string }>('/api/v2/dev/login', {
    email: developer.email,
    password: developer.password,
  });
  await api.call('PATCH', `/api/v2/dev/apps/${app.app_id}`, { paused: false }, signedIn.body);
  const { status, body } = await api.login(app.with(owner));
  expect(status).toBe(200);
  const verified = await api.verify({ app_id: app.app_id, token: body.token });
  expect(verified.body).toMatchObject({
    subscription_tier: 'VIP',
    subscription_expires_at: '9999-12-31T23:59:59.999Z',
  });
});
