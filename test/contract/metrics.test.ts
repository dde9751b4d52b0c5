import { describe, expect, test } from 'vitest';
import { newApp, newUser, unique } from '../support/fixtures.ts';
import { flood } from '../support/hashing.ts';
import { startTestService } from '../support/service.ts';
import { sendRaw } from '../security/support/raw.ts';
import { operations } from './operations.ts';

const service = await startTestService({}, { hashing: 'each' });
const { api, baseUrl, databaseUrl } = service;

const scrape = (url = baseUrl, headers: Record<string, string> = {}) =>
  fetch(`${url}/metrics`, { headers: { accept: '*/*', ...headers } });
const text = async (url?: string) => (await scrape(url)).text();

/** The value of a sample, or undefined. */
function sample(
  metrics: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const lines = metrics
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  const found = lines.find((line) =>
    Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)),
  );
  return found === undefined ? undefined : Number(found.split(' ').at(-1));
}

describe('/metrics', () => {
  test('is in the Prometheus text format, with help and type for each metric', async () => {
    const response = await scrape();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const metrics = await response.text();
    const types = Object.fromEntries(
      [...metrics.matchAll(/^# TYPE (latchkey_\S+) (\w+)$/gm)].map(([, name, type]) => [name, type]),
    );
    expect(types).toEqual({
      latchkey_http_request_duration_seconds: 'histogram',
      latchkey_session_lookup_batch_size: 'histogram',
      latchkey_payment_notices_total: 'counter',
      latchkey_password_hashes: 'gauge',
      latchkey_password_hashes_refused_total: 'counter',
      latchkey_rate_limited_total: 'counter',
      latchkey_database_connections: 'gauge',
      latchkey_lookup_connections: 'gauge',
      latchkey_event_clients: 'gauge',
      latchkey_outbox_lag_seconds: 'gauge',
      latchkey_broker_lag_events: 'gauge',
      latchkey_set_aside_events: 'gauge',
      latchkey_clock_skew_seconds: 'gauge',
    });
    for (const name of Object.keys(types)) expect(metrics).toMatch(new RegExp(`^# HELP ${name} \\S`, 'm'));
    // And the default metrics of Node.js.
    for (const name of [
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_seconds',
      'process_open_fds',
    ]) {
      expect(sample(metrics, name), name).toBeGreaterThanOrEqual(0);
    }
  });

  test('counts every response by operation and status', async () => {
    const count = async (operation: string, status: number) =>
      sample(await text(), 'latchkey_http_request_duration_seconds_count', {
        operation,
        status: String(status),
      }) ?? 0;
    const before = {
      health: await count('getHealth', 200),
      refused: await count('loginUser', 400),
      apps: await count('getApplication', 404),
      absent: await count('none', 404),
      other: await count('none', 405),
    };
    const app = await newApp(api);
    await api.health();
    await fetch(`${baseUrl}/health`, { method: 'HEAD' });
    await api.post('/api/v1/client/login', {});
    await api.post('/api/v1/client/login', '{');
    await api.call('GET', '/api/v2/dev/apps/app_x', undefined, app);
    await api.call('GET', '/api/v2/dev/apps/app_y', undefined, app);
    await api.call('GET', `/${unique('nowhere')}`);
    await api.call('PUT', '/health');
    expect({
      health: await count('getHealth', 200),
      refused: await count('loginUser', 400),
      apps: await count('getApplication', 404),
      absent: await count('none', 404),
      other: await count('none', 405),
    }).toEqual({
      health: before.health + 2,
      refused: before.refused + 2,
      apps: before.apps + 2,
      absent: before.absent + 1,
      other: before.other + 1,
    });
  });

  test.each(['GET', 'HEAD'])('counts a %s with a malformed body once, for its operation', async (method) => {
    const counts = async () => {
      const metrics = await text();
      const count = (operation: string) =>
        sample(metrics, 'latchkey_http_request_duration_seconds_count', { operation, status: '400' }) ?? 0;
      return { health: count('getHealth'), none: count('none') };
    };
    const before = await counts();
    const head = `${method} /health HTTP/1.1\r\nHost: latchkey\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const { responses } = await sendRaw(baseUrl, `${head}not a size\r\n`, 1, {
      bodiless: method === 'HEAD',
    });
    expect(responses.map(({ status }) => status)).toEqual([400]);
    expect(await counts()).toEqual({ health: before.health + 1, none: before.none });
  });

  test('has no labels with values from requests', async () => {
    const word = unique('word');
    await api.call('GET', `/${word}`);
    await api.call('GET', `/api/v2/dev/apps/${word}`);
    await api.post('/api/v1/client/login', { app_id: word, username: word });
    await fetch(`${baseUrl}/${word}`, { method: 'PROPFIND' });
    const metrics = await text();
    expect(metrics).not.toContain(word);
    const labels = [...metrics.matchAll(/operation="([^"]*)"/g)].map(([, operation]) => operation!);
    expect(
      new Set(labels).isSubsetOf(new Set([...operations.map(({ operationId }) => operationId), 'none'])),
    ).toBe(true);
  });

  test('measures durations in seconds', async () => {
    const metrics = await text();
    const name = 'latchkey_http_request_duration_seconds';
    const labels = { operation: 'getHealth', status: '200' };
    const all = sample(metrics, `${name}_count`, labels)!;
    expect(sample(metrics, `${name}_bucket`, { ...labels, le: '+Inf' })).toBe(all);
    expect(sample(metrics, `${name}_bucket`, { ...labels, le: '10' })).toBe(all);
    expect(sample(metrics, `${name}_sum`, labels)).toBeLessThan(10 * all);
    expect(sample(metrics, `${name}_sum`, labels)).toBeGreaterThan(0);
  });

  test('counts verifications by the batch size of their statement', async () => {
    const count = async () => sample(await text(), 'latchkey_session_lookup_batch_size_sum')!;
    const before = await count();
    await api.verify({ app_id: 'app_x', token: 'x' });
    expect(await count()).toBe(before + 1);
    await Promise.all(
      Array.from({ length: 5 }, (_each, index) => api.verify({ app_id: 'app_x', token: `y${index}` })),
    );
    expect(await count()).toBe(before + 6);
  });

  test('counts refused password checks, and shows waiting ones', async () => {
    const app = await newApp(api);
    const refused = async () => sample(await text(), 'latchkey_password_hashes_refused_total')!;
    const before = await refused();
    await flood(7, () =>
      api.login(app.with({ username: unique('user'), password: 'wrong', hwid: 'a machine' })),
    );
    expect(await refused()).toBe(before + 7);
    const metrics = await text();
    expect(sample(metrics, 'latchkey_password_hashes', { state: 'active' })).toBe(0);
    expect(sample(metrics, 'latchkey_password_hashes', { state: 'waiting' })).toBe(0);
  });

  test('counts refusals of rate limits, by requests and failures', async () => {
    const limited = await startTestService({ DATABASE_URL: databaseUrl, RATE_LIMIT: '12/60' });
    const app = await newApp(api);
    const user = await newUser(api, app);
    expect(sample(await text(limited.baseUrl), 'latchkey_rate_limited_total')).toBe(0);
    const statuses = [];
    for (let request = 0; request < 14; request += 1) {
      const response = await limited.api.login(app.with({ ...user, password: 'wrong' }));
      statuses.push(response.status);
    }
    const refused = statuses.filter((status) => status === 429).length;
    expect(refused).toBe(4);
    expect(sample(await text(limited.baseUrl), 'latchkey_rate_limited_total')).toBe(refused);
  });

  test('shows the connections of both pools by state', async () => {
    const metrics = await text();
    for (const name of ['latchkey_database_connections', 'latchkey_lookup_connections']) {
      const states = [...metrics.matchAll(new RegExp(`^${name}\\{state="(\\w+)"\\} (\\d+)$`, 'gm'))];
      expect(states.length, name).toBeGreaterThan(1);
    }
  });

  test('does not increase counters by scraping', async () => {
    const counter = async () => sample(await text(), 'latchkey_password_hashes_refused_total')!;
    expect(await counter()).toBe(await counter());
  });
});

describe('without METRICS_TOKEN', () => {
  test.each(['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-host'])(
    'it does not exist for requests from a proxy: %s',
    async (name) => {
      const response = await scrape(baseUrl, { [name]: '127.0.0.1' });
      expect(response.status).toBe(404);
      const absent = await fetch(`${baseUrl}/nowhere`, { headers: { [name]: '127.0.0.1' } });
      const [{ code, title, detail }, other] = [
        (await response.json()) as Record<string, unknown>,
        (await absent.json()) as Record<string, unknown>,
      ];
      expect({ code, title, detail }).toEqual({
        code: 'NOT_FOUND',
        title: other['title'],
        detail: other['detail'],
      });
    },
  );

  test('it is open to IPv4 and IPv6 loopback addresses without a token', async () => {
    expect((await scrape(baseUrl, { authorization: 'Bearer nonsense' })).status).toBe(200);
    const own = await startTestService({ DATABASE_URL: databaseUrl, HOST: '::1' });
    expect((await scrape(own.baseUrl)).status).toBe(200);
  });

  test('it does not exist if a proxy is configured', async () => {
    const behind = await startTestService({ DATABASE_URL: databaseUrl, TRUSTED_PROXIES: '127.0.0.1' });
    expect((await scrape(behind.baseUrl, { 'x-forwarded-for': '127.0.0.1' })).status).toBe(404);
    expect((await scrape(behind.baseUrl)).status).toBe(404);
  });
});

describe('with METRICS_TOKEN', async () => {
  const METRICS_TOKEN = 'a-token-of-many-characters~0123';
  const guarded = await startTestService({ DATABASE_URL: databaseUrl, METRICS_TOKEN });

  test('every caller needs the token', async () => {
    for (const authorization of [
      undefined,
      '',
      'Bearer ',
      `Bearer ${METRICS_TOKEN}x`,
      `Bearer ${METRICS_TOKEN.slice(1)}`,
      `Basic ${METRICS_TOKEN}`,
      METRICS_TOKEN,
    ]) {
      const response = await scrape(guarded.baseUrl, authorization === undefined ? {} : { authorization });
      expect(response.status, String(authorization)).toBe(401);
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /);
      expect(await response.json()).toMatchObject({ code: 'UNAUTHORIZED' });
    }
    expect((await fetch(`${guarded.baseUrl}/metrics?token=${METRICS_TOKEN}`)).status).toBe(401);
  });

  test('the token is sufficient, also through a proxy', async () => {
    const authorization = `Bearer ${METRICS_TOKEN}`;
    expect((await scrape(guarded.baseUrl, { authorization })).status).toBe(200);
    const forwarded = await scrape(guarded.baseUrl, { authorization, 'x-forwarded-for': '198.51.100.1' });
    expect(forwarded.status).toBe(200);
    expect(await forwarded.text()).not.toContain(METRICS_TOKEN);
  });

  test('HEAD needs the token too', async () => {
    expect((await fetch(`${guarded.baseUrl}/metrics`, { method: 'HEAD' })).status).toBe(401);
  });
});
