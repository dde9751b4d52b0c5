import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { connectTo, createTestDatabase } from '../../support/database.ts';
import { newApp } from '../../support/fixtures.ts';
import { spawnService } from '../../support/processes.ts';

const CALLS = 100;
const KEYS_A_CALL = 10_000;
const KEYS = CALLS * KEYS_A_CALL;
const IMPORTED = 100_000;
const LIMIT_MB = 300;

const databaseUrl = await createTestDatabase();
const service = await spawnService(
  {
    DATABASE_URL: databaseUrl,
    MASTER_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'error',
  },
  afterAll,
);
const { api, child } = service;
const app = await newApp(api);
const base = `${api.baseUrl}/api/v2/dev/apps/${app.app_id}/licenses`;

/** The peak memory of the service in MB. */
function peak(): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) / 1024);
}

/** One call, without checking its response against the contract, because the service is measured. */
async function call(method: string, url: string, body?: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body }),
  });
  expect(response.status, `${method} ${url}`).toBeLessThan(300);
  return response;
}

async function timed<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const began = performance.now();
  const result = await work();
  const seconds = (performance.now() - began) / 1000;
  console.log(`${what}: ${seconds.toFixed(1)} s, peak ${peak()} MB`);
  return result;
}

/** Counts the lines of a response as it arrives. */
async function countLines(response: Response): Promise<number> {
  let lines = 0;
  for await (const part of response.body!)
    for (const byte of part as Uint8Array) if (byte === 0x0a) lines += 1;
  return lines;
}

test(
  'a million keys are generated, listed, exported, extended and deleted in 300 MB',
  { timeout: 3_600_000 },
  async () => {
    console.log(`at the start: peak ${peak()} MB`);
    await timed(`${KEYS} keys generated`, async () => {
      for (let n = 0; n < CALLS; n += 1) {
        const tier = ['Standard', 'Pro', 'VIP'][n % 3]!;
        const wanted = {
          amount: KEYS_A_CALL,
          tier,
          duration_days: 30,
          note: n % 10 === 0 ? `Batch ${n}` : null,
        };
        const path = n % 2 === 0 ? `${base}/csv` : base;
        const response = await call('POST', path, JSON.stringify(wanted));
        await response.arrayBuffer();
      }
    });
    const database = await connectTo(databaseUrl);
    const { rows } = await database.query<{ n: number }>('select count(*)::int as n from licenses');
    expect(rows[0]!.n).toBe(KEYS);

    const table = ['license_key,tier,duration_days'];
    for (let n = 0; n < IMPORTED; n += 1) table.push(`IMPORTED-${String(n).padStart(8, '0')},Pro,30`);
    await timed(`${IMPORTED} keys imported`, () =>
      call('POST', `${base}/import`, table.join('\n'), { 'content-type': 'text/csv' }),
    );

    for (const query of [
      '',
      '?status=unused',
      '?status=banned',
      '?tier=VIP',
      '?tier=VIP&status=paused',
      '?q=batch%2090',
      '?q=nothing%20like%20it',
      '?q=imported-00000001',
      '?q=missing',
    ]) {
      await timed(`list ${query}`, async () => void (await (await call('GET', `${base}${query}`)).json()));
    }
    await timed('1,000 pages of 100', async () => {
      let cursor: string | null = null;
      for (let page = 0; page < 1_000; page += 1) {
        const response = await call('GET', `${base}?limit=100${cursor === null ? '' : `&cursor=${cursor}`}`);
        cursor = ((await response.json()) as { next_cursor: string }).next_cursor;
      }
    });
    const lines = await timed('exported as a table', async () =>
      countLines(await call('GET', `${base}/export`)),
    );
    expect(lines).toBe(KEYS + IMPORTED + 1);
    const objects = await timed('exported as JSON lines', async () =>
      countLines(await call('GET', `${base}/export/ndjson`)),
    );
    expect(objects).toBe(KEYS + IMPORTED);
    const extended = await timed('all extended', async () =>
      (await call('POST', `${base}/extend`, '{"days":1,"all":true}')).json(),
    );
    expect(extended).toEqual({ status: 'success', licenses: KEYS + IMPORTED, users: 0, left: 0 });
    const deleted = await timed('all deleted', async () =>
      (await call('DELETE', `${base}?status=unused`)).json(),
    );
    expect(deleted).toEqual({ status: 'success', deleted: KEYS + IMPORTED });
    expect(peak()).toBeLessThan(LIMIT_MB);
  },
);
