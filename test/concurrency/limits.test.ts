import { randomInt } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newApp, newDeveloper, newNonce, unique, type App } from '../support/fixtures.ts';
import { shuffled, tally, type LightResponse, type LightOptions } from './load.ts';
import { sign } from './signed.ts';
import { startTwoProcesses } from './two-processes.ts';

const LIMIT = 50;
/** No window ends during the tests. */
const WINDOW_S = 86_400;

const two = await startTwoProcesses({
  RATE_LIMIT: `${LIMIT}/${WINDOW_S}`,
  // The tests connect from 127.0.0.1, so the service trusts their forwarded addresses.
  TRUSTED_PROXIES: '127.0.0.1/32,10.0.0.0/8',
});
const { client, sql } = two;
const [{ api }] = two.services;
// Each registration is one request of this address, so they are sent before it reaches its limit.
const developer = await newDeveloper(api);
const makeApp = () => newApp(api, developer);

let clients = 0;
/** A new address for documentation (RFC 5737). */
const newAddress = () => `203.0.113.${(clients += 1)}`;
const via = (forwarded: string): LightOptions => ({ headers: { 'x-forwarded-for': forwarded } });

/** Requests that count for an application and cost nothing more, because their credentials are wrong. */
const kinds: readonly ((turn: number, appId: string, more: LightOptions) => Promise<LightResponse>)[] = [
  (turn, app_id, more) =>
    client(turn).post(
      '/api/v1/client/login',
      { app_id, secret: 'no', username: 'u', password: 'p', hwid: 'h' },
      more,
    ),
  (turn, app_id, more) =>
    client(turn).post(
      '/api/v1/client/register',
      { app_id, secret: 'no', username: 'u', password: 'a password', hwid: 'h' },
      more,
    ),
  (turn, app_id, more) =>
    client(turn).signed(
      'login',
      { app_id, secret: 'no' },
      { username: 'u', password: 'p', hwid: 'h', nonce: newNonce() },
      more,
    ),
  (turn, app_id, more) =>
    client(turn).post('/api/v2/client/login-license', { app_id, license_key: 'no key', hwid: 'h' }, more),
  // Invalid, but still an attempt.
  (turn, app_id, more) => client(turn).post('/api/v1/client/login', { app_id }, more),
];
const attempt = (turn: number, { app_id }: Pick<App, 'app_id'>, more: LightOptions) =>
  kinds[turn % kinds.length]!(turn >> 2, app_id, more);

const passed = (responses: readonly LightResponse[]) => responses.filter(({ status }) => status !== 429);

/** Sends a number of requests concurrently, over both processes. */
function burst(
  amount: number,
  app: Pick<App, 'app_id'>,
  more: (n: number) => LightOptions,
): Promise<LightResponse[]> {
  return Promise.all(
    shuffled(Array.from({ length: amount }, (_, n) => n)).map((n) => attempt(n, app, more(n))),
  );
}

/** Uses up an allowance. */
async function exhaust(app: Pick<App, 'app_id'>, more: LightOptions): Promise<void> {
  expect(passed(await burst(LIMIT + 20, app, () => more))).toHaveLength(LIMIT);
}

const number = (response: LightResponse, header: string) => {
  const text = response.headers.get(header);
  expect(text, header).toMatch(/^\d+$/);
  return Number(text);
};

describe('200 requests at once over two processes', () => {
  test('exactly as many pass as the limit allows, over all operations', async () => {
    for (let round = 0; round < 3; round += 1) {
      const app = await makeApp();
      const responses = await burst(200, app, () => via('203.0.113.200'));
      const through = passed(responses);
      expect(through).toHaveLength(LIMIT);
      for (const { status } of through) expect([400, 401, 404]).toContain(status);
      expect(tally(responses)['429 TOO_MANY_REQUESTS']).toBe(200 - LIMIT);

      // One counter: each accepted request reports another remainder.
      const remaining = through.map((response) => number(response, 'ratelimit-remaining'));
      expect(remaining.toSorted((a, b) => a - b)).toEqual(Array.from({ length: LIMIT }, (_, n) => n));
      for (const response of responses) {
        expect(number(response, 'ratelimit-limit')).toBe(LIMIT);
        expect(response.headers.get('ratelimit-policy')).toBe(`${LIMIT};w=${WINDOW_S}`);
        const reset = number(response, 'ratelimit-reset');
        expect(reset).toBeGreaterThan(WINDOW_S - 600);
        expect(reset).toBeLessThanOrEqual(WINDOW_S);
        if (response.status !== 429) continue;
        expect(number(response, 'ratelimit-remaining')).toBe(0);
        expect(number(response, 'retry-after')).toBe(reset);
        expect(response.headers.get('content-type')).toBe('application/problem+json');
      }
    }
  });

  test('another address and another application have their own', async () => {
    const [one, other] = [await makeApp(), await makeApp()];
    const [address, neighbor] = [newAddress(), newAddress()];
    const responses = await Promise.all(
      [
        { app: one, from: address },
        { app: one, from: neighbor },
        { app: other, from: address },
      ].map(({ app, from }) => burst(80, app, () => via(from))),
    );
    for (const each of responses) expect(passed(each)).toHaveLength(LIMIT);
  });

  test('a refused request only counts: nothing is queried or changed', async () => {
    const app = await makeApp();
    const address = newAddress();
    await exhaust(app, via(address));
    const body = { username: unique('user'), password: 'a user password', hwid: 'machine' };
    for (const turn of [0, 1]) {
      const refused = await client(turn).post('/api/v1/client/register', app.with(body), via(address));
      expect(refused.code).toBe('TOO_MANY_REQUESTS');
    }
    const nonce = newNonce();
    const login = { ...body, nonce };
    expect((await client(0).signed('login', app, login, via(address))).code).toBe('TOO_MANY_REQUESTS');
    expect(await sql('select 1 from users where app_id = $1', [app.app_id])).toEqual([]);
    // Its nonce was not spent.
    const elsewhere = await client(1).signed('login', app, login, via(newAddress()));
    expect(elsewhere.code).toBe('INVALID_CREDENTIALS');
  });

  test('operations without a limit continue, and report no limit', async () => {
    const app = await makeApp();
    const address = newAddress();
    await exhaust(app, via(address));
    const { app_id } = app;
    for (const turn of [0, 1]) {
      for (const [path, body, status] of [
        ['/api/v1/client/init', app.with({}), 200],
        ['/api/v1/client/verify-session', { app_id, token: 'x' }, 401],
        ['/api/v2/client/verify-session', { app_id, token: 'x' }, 401],
        ['/api/v1/client/logout', { app_id, token: 'x' }, 401],
        ['/api/v2/client/logout', { app_id, token: 'x' }, 401],
        ['/api/v1/client/activate', app.with({ username: 'u', license_key: 'x' }), 404],
      ] as const) {
        const response = await client(turn).post(path, body, via(address));
        expect(response.status, path).toBe(status);
        for (const name of ['limit', 'remaining', 'reset', 'policy'])
          expect(response.headers.get(`ratelimit-${name}`), path).toBeNull();
      }
    }
  });
});

describe('applications that do not exist', () => {
  test('are counted like existing ones', async () => {
    const address = newAddress();
    const app_id = 'app_01kazm4q7ffx8v5t2w9y3b6n1c';
    const app = await makeApp();
    const made = await Promise.all(
      Array.from({ length: 160 }, (_, n) => attempt(n, { app_id }, via(address))),
    );
    const wrong = await Promise.all(
      Array.from({ length: 160 }, (_, n) => attempt(n, { app_id: app.app_id }, via(address))),
    );
    for (const responses of [made, wrong]) {
      expect(passed(responses)).toHaveLength(LIMIT);
      const left = passed(responses).map((response) => number(response, 'ratelimit-remaining'));
      expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: LIMIT }, (_, n) => n));
    }
  });

  test('are counted in any form, and the table holds none of them', async () => {
    const { app_id } = await makeApp();
    const address = newAddress();
    const odd = [
      `${app_id} `, ` ${app_id}`, app_id.toUpperCase(), `${app_id}\u0000`, '\u0000', '', 'x'.repeat(65),
      'x'.repeat(5_000), null, 7, true, [app_id], { app_id }, undefined, '__proto__', 'application',
      'developers', 'sandbox',
      `${app_id} ${address}`,
      `${app_id.slice(0, -1)}\u212a`,
    ]; // prettier-ignore
    for (const value of odd) {
      const response = await client(0).post(
        '/api/v1/client/login',
        { app_id: value, secret: 'none', username: 'u', password: 'p', hwid: 'h' },
        via(address),
      );
      expect([400, 401]).toContain(response.status);
      expect(number(response, 'ratelimit-remaining')).toBeLessThan(LIMIT);
    }
    const rows = await sql('select key from rate_limits where position($1 in key) > 0', [address]);
    expect(rows).toEqual([]);
    expect(number(await attempt(0, await makeApp(), via(address)), 'ratelimit-remaining')).toBe(LIMIT - 1);
  });
});

describe('requests without an application have one allowance per address', () => {
  test('the sandbox, for any application', async () => {
    const address = newAddress();
    const responses = await Promise.all(
      Array.from({ length: 160 }, (_, n) =>
        n % 2 === 0
          ? client(n >> 1).post(
              '/api/v1/sandbox/auth',
              { app_id: `app ${n}`, username: 'agent', hwid: 'h' },
              via(address),
            )
          : client(n >> 1).post(
              '/api/v1/sandbox/verify-session',
              { app_id: `app ${n}`, token: 'none' },
              via(address),
            ),
      ),
    );
    expect(passed(responses)).toHaveLength(LIMIT);
    expect(number(await attempt(0, await makeApp(), via(address)), 'ratelimit-remaining')).toBe(LIMIT - 1);
  });

  test('the accounts of developers', async () => {
    const address = newAddress();
    const responses = await Promise.all(
      Array.from({ length: 160 }, (_, n) =>
        client(n >> 1).post(
          n % 2 === 0 ? '/api/v2/dev/login' : '/api/v2/dev/register',
          { email: `unknown-${n}@example.com`, password: 'short' },
          via(address),
        ),
      ),
    );
    // Refusals for a full queue of hashes come after the count.
    const counted = responses.filter(
      ({ body }) => !/^The address has sent more than /.test(String(body['detail'])),
    );
    expect(counted).toHaveLength(LIMIT);
  });
});

describe('the address of a client', () => {
  test('of IPv6 a whole /64 is one client, and the next /64 is another', async () => {
    const app = await makeApp();
    const block = `2001:db8:0:${randomInt(0x1000, 0x8000).toString(16)}`;
    const spellings = (n: number) =>
      [
        `${block}::${n.toString(16)}`,
        `${block}:ffff:ffff:${n.toString(16)}:1`,
        `${block.toUpperCase()}:0000:0000:0000:${n.toString(16).padStart(4, '0')}`,
        `${block}::${n.toString(16)}:203.0.113.1`,
      ][n % 4]!;
    expect(passed(await burst(120, app, (n) => via(spellings(n))))).toHaveLength(LIMIT);
    const next = `2001:db8:0:${(parseInt(block.split(':')[3]!, 16) + 1).toString(16)}::1`;
    expect(number(await attempt(0, app, via(next)), 'ratelimit-remaining')).toBe(LIMIT - 1);
  });

  test('an IPv4 address is the same when it is mapped into IPv6', async () => {
    const app = await makeApp();
    const address = newAddress();
    const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number];
    const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
    const spellings = [
      address,
      `::ffff:${address}`,
      `::FFFF:${address}`,
      `0:0:0:0:0:ffff:${address}`,
      `::ffff:${hex(a, b)}:${hex(c, d)}`,
    ];
    const responses = await burst(120, app, (n) => via(spellings[n % spellings.length]!));
    expect(passed(responses)).toHaveLength(LIMIT);
    const neighbor = `::ffff:${newAddress()}`;
    expect(number(await attempt(0, app, via(neighbor)), 'ratelimit-remaining')).toBe(LIMIT - 1);
  });

  test('through several proxies, it is the last one that is not trusted', async () => {
    const app = await makeApp();
    const address = newAddress();
    const chains = (n: number) =>
      [
        `${address}`,
        `${address}, 10.1.2.3`,
        `${address},10.1.2.3 ,10.255.255.255`,
        // Clients can forge everything before the last entry.
        `198.51.100.${n}, ${address}`,
        `198.51.100.${n}, 192.0.2.${n}, ${address}, 10.0.0.${n}`,
        `10.0.0.${n}, 127.0.0.1, ${address}, 10.1.1.1`,
        `garbage, ${address}, 127.0.0.1`,
      ][n % 7]!;
    expect(passed(await burst(140, app, (n) => via(chains(n))))).toHaveLength(LIMIT);
    // If all of them are trusted, it is the first one.
    const inside = await attempt(0, app, via('10.9.9.9, 10.1.2.3'));
    expect(number(inside, 'ratelimit-remaining')).toBe(LIMIT - 1);
  });

  test('with a port is the same as without', async () => {
    const app = await makeApp();
    const address = newAddress();
    const spellings = (n: number) => [address, `${address}:${1_024 + n}`, `198.51.100.${n}, ${address}:443`];
    expect(passed(await burst(120, app, (n) => via(spellings(n)[n % 3]!)))).toHaveLength(LIMIT);
    const six = (n: number) => ['2001:db8:6::1', `[2001:db8:6::${n}]`, `[2001:db8:6::${n}]:${1_024 + n}`];
    expect(passed(await burst(120, app, (n) => via(six(n)[n % 3]!)))).toHaveLength(LIMIT);
  });

  test('an invalid address counts as the proxy', async () => {
    const app = await makeApp();
    const garbage = (n: number) =>
      [
        'garbage',
        '',
        ',,,',
        'unknown',
        `203.0.113.${n}:`,
        `203.0.113.${n}:80:80`,
        `[203.0.113.${n}`,
        `"203.0.113.${n}"`,
        `203.0.113.${n};`,
        `203.0.113.${n}/32`,
        `0${n}.0.0.1`,
        `0x7f.0.0.${n}`,
        `${2 ** 31 + n}`,
        `203.0.113.${n}, _hidden`,
        'a'.repeat(4_000),
        `${'1.2.3.4,'.repeat(400)}x`,
        '\xe9\xff',
        '::ffff:999.1.1.1',
        ':::1',
        '__proto__',
      ][n % 20]!;
    const responses = await burst(160, app, (n) => via(garbage(n)));
    expect(responses.filter(({ status }) => status >= 500)).toEqual([]);
    expect(passed(responses)).toHaveLength(LIMIT);
    const none = await attempt(0, app, {});
    expect(none.status, 'the proxy itself').toBe(429);
  });

  test('the headers of a client that is not a proxy are ignored', async () => {
    const app = await makeApp();
    const spoofed = (n: number): LightOptions => ({
      from: '127.0.0.2',
      headers: {
        'x-forwarded-for': `198.51.100.${n}`,
        forwarded: `for=198.51.100.${n}`,
        'x-real-ip': `198.51.100.${n}`,
        'x-client-ip': `198.51.100.${n}`,
        'true-client-ip': `198.51.100.${n}`,
        'cf-connecting-ip': `198.51.100.${n}`,
        'x-cluster-client-ip': `198.51.100.${n}`,
        via: `1.1 198.51.100.${n}`,
      },
    });
    expect(passed(await burst(140, app, spoofed))).toHaveLength(LIMIT);
    // And it does not use up the quota of the forged address.
    expect(number(await attempt(0, app, via('198.51.100.1')), 'ratelimit-remaining')).toBe(LIMIT - 1);
    // From our proxy, other headers are ignored.
    const proxied = await attempt(1, app, {
      headers: { forwarded: 'for=198.51.100.1', 'x-real-ip': '198.51.100.1' },
    });
    expect(number(proxied, 'ratelimit-remaining')).toBe(LIMIT - 1);
  });
});

test('the header can be sent in several lines', async () => {
  const app = await makeApp();
  const address = newAddress();
  const { text, headers } = sign({ app_id: app.app_id, secret: 'no' }, { nonce: newNonce() });
  const lines = { ...headers, 'x-forwarded-for': ['198.51.100.7', address] as unknown as string };
  const send = () => client(0).post('/api/v2/client/login', text, { headers: lines });
  expect(number(await send(), 'ratelimit-remaining')).toBe(LIMIT - 1);
  expect(number(await attempt(0, app, via(address)), 'ratelimit-remaining')).toBe(LIMIT - 2);
});
