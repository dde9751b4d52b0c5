import { request, type ClientRequest } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { UploadMemoryBudget } from '../../src/http/contract/upload-memory-budget.ts';
import { newApp, type App } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const MIB = 1024 * 1024;
/** Memory is allocated in blocks of this size. */
const BLOCK = 65_536;
const { api } = await startTestService();

const CSV = { 'content-type': 'text/csv' };
const KEYED = { ...CSV, 'idempotency-key': 'key' };

interface Begun {
  readonly sent: ClientRequest;
  /** Undefined until the response arrives. */
  status?: number;
}

/** Sends the first bytes of an import, and no more. */
function begin(app: App, what: string, bytes: number, headers: object): Begun {
  const sent = request(`${api.baseUrl}/api/v2/dev/apps/${app.app_id}/${what}/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.token}`, ...headers },
  });
  afterAll(() => void sent.destroy());
  const begun: Begun = { sent };
  sent.on('error', () => {}).on('response', ({ statusCode }) => (begun.status = statusCode!));
  sent.write('\n'.repeat(bytes));
  return begun;
}

/** An import of empty lines, which is rejected as such if there is memory for it. */
const attempt = (app: App, what: string, bytes: number, headers: Record<string, string>) =>
  api.post<{ code: string }>(`/api/v2/dev/apps/${app.app_id}/${what}/import`, '\n'.repeat(bytes), {
    token: app.token,
    headers,
  });

test('incomplete imports of several developers stay within the memory budget', async () => {
  const [first, second, third] = [await newApp(api), await newApp(api), await newApp(api)];
  const beginKeyed = () => begin(first, 'licenses', 32 * MIB, KEYED);
  const beginUnkeyed = () => begin(second, 'users', 16 * MIB - BLOCK, CSV);
  let [keyed, unkeyed] = [beginKeyed(), beginUnkeyed()];
  const codeOfThird = async () => (await attempt(third, 'users', BLOCK + 1, CSV)).body.code;
  // Once a third import is refused, both have arrived in full, unless the third one got in between.
  await expect
    .poll(() => {
      if (keyed.status) keyed = beginKeyed();
      if (unkeyed.status) unkeyed = beginUnkeyed();
      return codeOfThird();
    })
    .toBe('SERVICE_UNAVAILABLE');

  for (const what of ['licenses', 'users'])
    for (const headers of [CSV, KEYED]) {
      const refused = await attempt(third, what, BLOCK + 1, headers);
      expect(refused.body).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
      expect(refused.headers.get('retry-after')).toBe('1');
      const small = await attempt(third, what, BLOCK, headers);
      expect(small.body).toMatchObject({ code: 'VALIDATION_FAILED' });
    }
  const more = await attempt(first, 'users', 1, KEYED);
  expect(more.body).toMatchObject({ status: 429, code: 'TOO_MANY_REQUESTS' });
  expect(more.headers.get('retry-after')).toBe('1');
  // Files are stored as they arrive, outside the budget.
  const file = await api.call('PUT', `/api/v2/dev/apps/${third.app_id}/files/file`, Buffer.alloc(3 * MIB), {
    token: third.token,
    headers: { 'content-type': 'application/octet-stream' },
  });
  expect(file.status).toBe(200);

  // A closed connection frees its memory, and so does a response.
  keyed.sent.destroy();
  await expect.poll(codeOfThird).toBe('VALIDATION_FAILED');
  unkeyed.sent.end();
  await expect.poll(() => unkeyed.status).toBe(400);
  expect((await attempt(third, 'users', 32 * MIB, KEYED)).body).toMatchObject({ code: 'VALIDATION_FAILED' });
});

/** Buffers endless bodies in parallel until each is refused. @returns the buffered bytes and the codes of refusal */
async function fill(budget: UploadMemoryBudget, requests: readonly object[], owners: readonly string[]) {
  async function* endless() {
    for (;;) yield new Uint8Array(MIB);
  }
  let bytes = 0;
  const codes = new Set<string>();
  const reading = requests.map(async (each, n) => {
    try {
      for await (const block of budget.buffer(each, owners[n]!, endless())) bytes += block.length;
    } catch (error) {
      codes.add((error as { code: string }).code);
    }
  });
  await Promise.all(reading);
  return { bytes, codes: [...codes] };
}

test('the budget is 32 MiB for one developer, 48 MiB for all, and is reusable after release', async () => {
  const requests = Array.from({ length: 12 }, () => ({}));
  const budget = new UploadMemoryBudget();
  const one = requests.map(() => 'one');
  expect(await fill(budget, requests, one)).toEqual({ bytes: 32 * MIB, codes: ['TOO_MANY_REQUESTS'] });
  for (const each of requests) budget.release(each);
  const many = requests.map((_, n) => `developer ${n}`);
  expect(await fill(budget, requests, many)).toEqual({ bytes: 48 * MIB, codes: ['SERVICE_UNAVAILABLE'] });
  for (const each of requests) budget.release(each);
  expect(await fill(budget, requests, one)).toEqual({ bytes: 32 * MIB, codes: ['TOO_MANY_REQUESTS'] });
});

test('a body that arrives byte by byte is buffered like one that arrives at once', async () => {
  const bytes = Uint8Array.from({ length: 150_000 }, (_, n) => n % 251);
  async function* byteByByte() {
    for (let n = 0; n < bytes.length; n += 1) yield bytes.subarray(n, n + 1);
  }
  async function* atOnce() {
    yield bytes;
  }
  for (const body of [byteByByte(), atOnce()]) {
    const blocks = await Array.fromAsync(new UploadMemoryBudget().buffer({}, 'developer', body));
    expect(blocks.map(({ length }) => length)).toEqual([65_536, 65_536, 150_000 - 2 * 65_536]);
    expect(Buffer.concat(blocks).equals(bytes)).toBe(true);
  }
});
