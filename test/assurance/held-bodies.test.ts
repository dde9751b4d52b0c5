import { request, type ClientRequest } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { HeldBodies } from '../../src/http/held-bodies.ts';
import { newApp, type App } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const MIB = 1024 * 1024;
/** Room is taken in parts of this size. */
const BLOCK = 65_536;
const { api } = await startTestService();

const CSV = { 'content-type': 'text/csv' };
const KEYED = { ...CSV, 'idempotency-key': 'key' };

interface Begun {
  readonly sent: ClientRequest;
  /** How it was answered; undefined for as long as it is not. */
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

/** An import of empty lines, which is refused as such when there is room for it. */
const attempt = (app: App, what: string, bytes: number, headers: Record<string, string>) =>
  api.post<{ code: string }>(`/api/v2/dev/apps/${app.app_id}/${what}/import`, '\n'.repeat(bytes), {
    token: app.token,
    headers,
  });

test('imports that are half sent by several developers hold no more than there is room for', async () => {
  const [first, second, third] = [await newApp(api), await newApp(api), await newApp(api)];
  const beginKeyed = () => begin(first, 'licenses', 32 * MIB, KEYED);
  const beginUnkeyed = () => begin(second, 'users', 16 * MIB - BLOCK, CSV);
  let [keyed, unkeyed] = [beginKeyed(), beginUnkeyed()];
  const codeOfThird = async () => (await attempt(third, 'users', BLOCK + 1, CSV)).body.code;
  // All of it has come once a third one is refused, unless that has come between.
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
  // A file goes on as it comes.
  const file = await api.call('PUT', `/api/v2/dev/apps/${third.app_id}/files/file`, Buffer.alloc(3 * MIB), {
    token: third.token,
    headers: { 'content-type': 'application/octet-stream' },
  });
  expect(file.status).toBe(200);

  // Who goes away gives back what he held, and so does who is answered.
  keyed.sent.destroy();
  await expect.poll(codeOfThird).toBe('VALIDATION_FAILED');
  unkeyed.sent.end();
  await expect.poll(() => unkeyed.status).toBe(400);
  expect((await attempt(third, 'users', 32 * MIB, KEYED)).body).toMatchObject({ code: 'VALIDATION_FAILED' });
});

/** Reads as much of endless bodies at once as there is room for, one for each owner. @returns how much, and the refusals */
async function fill(held: HeldBodies, requests: readonly object[], owners: readonly string[]) {
  async function* endless() {
    for (;;) yield new Uint8Array(MIB);
  }
  let bytes = 0;
  const codes = new Set<string>();
  const reading = requests.map(async (each, n) => {
    try {
      for await (const block of held.hold(each, owners[n]!, endless())) bytes += block.length;
    } catch (error) {
      codes.add((error as { code: string }).code);
    }
  });
  await Promise.all(reading);
  return { bytes, codes: [...codes] };
}

test('a developer holds 32 MiB, all together 48, and what was held comes back', async () => {
  const requests = Array.from({ length: 12 }, () => ({}));
  const held = new HeldBodies();
  const one = requests.map(() => 'one');
  expect(await fill(held, requests, one)).toEqual({ bytes: 32 * MIB, codes: ['TOO_MANY_REQUESTS'] });
  for (const each of requests) held.release(each);
  const many = requests.map((_, n) => `developer ${n}`);
  expect(await fill(held, requests, many)).toEqual({ bytes: 48 * MIB, codes: ['SERVICE_UNAVAILABLE'] });
  for (const each of requests) held.release(each);
  expect(await fill(held, requests, one)).toEqual({ bytes: 32 * MIB, codes: ['TOO_MANY_REQUESTS'] });
});

test('a body that comes byte by byte is held as one that comes in one go', async () => {
  const bytes = Uint8Array.from({ length: 150_000 }, (_, n) => n % 251);
  async function* letterByLetter() {
    for (let n = 0; n < bytes.length; n += 1) yield bytes.subarray(n, n + 1);
  }
  async function* inOneGo() {
    yield bytes;
  }
  for (const body of [letterByLetter(), inOneGo()]) {
    const blocks = await Array.fromAsync(new HeldBodies().hold({}, 'developer', body));
    expect(blocks.map(({ length }) => length)).toEqual([65_536, 65_536, 150_000 - 2 * 65_536]);
    expect(Buffer.concat(blocks).equals(bytes)).toBe(true);
  }
});
