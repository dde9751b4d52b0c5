import { rm } from 'node:fs/promises';
import { readFileSync, readdirSync } from 'node:fs';
import { spawnSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'content-disposition';
import { createFiles } from '../../../src/licensing/files/files.ts';
import { BlobsUnavailableError, type Blobs } from '../../../src/platform/blobs/index.ts';
import { createNewId } from '../../../src/platform/ids.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { DAY } from '../../support/clock.ts';
import { newApp, newSession } from '../../support/fixtures.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { expectError } from '../support/errors.ts';
import { download, downloadOf, newContent, sha256, startFileService, upload } from '../support/files.ts';

const service = await startFileService();
const { api, clock } = service;

test('returns the content, with headers that keep browsers from interpreting it', async () => {
  const app = await newApp(api);
  const content = Buffer.from('<script>alert(1)</script>');
  await upload(api, app, 'page.html', content, '?version=1.2');
  const { status, headers, content: got } = await download(api, downloadOf(app, 'page.html'));
  expect([status, got]).toEqual([200, content]);
  const digest = `sha-256=:${sha256(content, 'base64')}:`;
  expect(Object.fromEntries(headers)).toMatchObject({
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-digest': digest,
    'content-disposition': 'attachment; filename=page.html',
    'content-length': String(content.length),
    'content-security-policy': "default-src 'none'; sandbox",
    'content-type': 'application/octet-stream',
    'cross-origin-resource-policy': 'same-origin',
    etag: `"${sha256(content)}"`,
    'repr-digest': digest,
    vary: 'Authorization',
    'x-content-type-options': 'nosniff',
    'x-file-version': '1.2',
  });
});

test.each(['ключ 🔑.bin', `a"b\u00e4;c`, 'a%20b', `"\r`.slice(0, 1), "'; filename=evil.exe"])(
  'the name %j arrives exactly, and cannot inject anything into its header',
  async (name) => {
    const app = await newApp(api);
    await upload(api, app, name, 'x');
    const { headers } = await download(api, downloadOf(app, name));
    const { type, parameters } = parse(headers.get('content-disposition')!);
    expect({ type, filename: parameters['filename'] }).toEqual({ type: 'attachment', filename: name });
  },
);

describe('authenticated_only', () => {
  test('UNAUTHORIZED without a token; every form of a live session’s token works', async () => {
    const app = await newApp(api);
    await upload(api, app, 'a', 'x', '?authenticated_only=true');
    const { token, session_id } = await newSession(api, app);
    const path = downloadOf(app, 'a');
    const refused = await download(api, path);
    expect([refused.status, refused.body.code]).toEqual([401, 'UNAUTHORIZED']);
    expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer /);
    for (const each of [token, session_id]) {
      expect((await download(api, path, { token: each })).content.toString()).toBe('x');
    }
    const known = { 'if-none-match': `"${sha256(Buffer.from('x'))}"` };
    expect((await download(api, path, { headers: known })).status).toBe(401);
    expect((await download(api, path, { method: 'HEAD' })).status).toBe(401);
  });

  test('SESSION_INVALID and SESSION_EXPIRED, also for a file that needs no token', async () => {
    const [app, other] = [await newApp(api), await newApp(api)];
    await upload(api, app, 'a', 'x');
    await upload(api, app, 'b', 'x', '?authenticated_only=true');
    const { token } = await newSession(api, other);
    const own = await newSession(api, app);
    for (const name of ['a', 'b']) {
      const response = await download(api, downloadOf(app, name), { token });
      expect([response.status, response.body.code]).toEqual([401, 'SESSION_INVALID']);
    }
    clock.advance(DAY);
    for (const name of ['a', 'b']) {
      const response = await download(api, downloadOf(app, name), { token: own.token });
      expect([response.status, response.body.code]).toEqual([401, 'SESSION_EXPIRED']);
    }
  });
});

describe('Range', async () => {
  const app = await newApp(api);
  const content = newContent(1000);
  await upload(api, app, 'a', content);
  await upload(api, app, 'empty', '');
  const path = downloadOf(app, 'a');
  const etag = `"${sha256(content)}"`;

  test.each<[string, number, number]>([
    ['bytes=0-0', 0, 0],
    ['bytes=0-499', 0, 499],
    ['bytes=500-', 500, 999],
    ['bytes=999-', 999, 999],
    ['bytes=990-2000', 990, 999],
    ['bytes=-1', 999, 999],
    ['bytes=-1000', 0, 999],
    ['bytes=-5000', 0, 999],
    ['BYTES=1-2', 1, 2],
    ['bytes= 1 - 2', 1, 2],
    ['bytes=0-99999999999999999999', 0, 999],
  ])('%s gives 206', async (range, start, end) => {
    const response = await download(api, path, { headers: { range } });
    expect([response.status, response.content]).toEqual([206, content.subarray(start, end + 1)]);
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end}/1000`);
    expect(response.headers.get('content-length')).toBe(String(end - start + 1));
    expect(response.headers.get('etag')).toBe(etag);
    expect(response.headers.get('content-digest')).toBeNull();
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
  });

  test.each(['bytes=1000-', 'bytes=1000-1001', 'bytes=-0', 'bytes=99999999999999999999-'])(
    '%s returns 416',
    async (range) => {
      const response = await download(api, path, { headers: { range } });
      expect([response.status, response.body.code]).toEqual([416, 'RANGE_NOT_SATISFIABLE']);
      expect(response.headers.get('content-range')).toBe('bytes */1000');
    },
  );

  test.each(['bytes=0-0,5-6', 'lines=0-1', 'bytes=5-1', 'bytes=a-b', 'bytes=-', 'bytes=', 'x', 'bytes=+1-2'])(
    '%s is ignored',
    async (range) => {
      const response = await download(api, path, { headers: { range } });
      expect([response.status, response.content.length]).toEqual([200, 1000]);
    },
  );

  test('of an empty file: the whole is empty, a part is not available', async () => {
    const empty = downloadOf(app, 'empty');
    const { status, headers, content: got } = await download(api, empty);
    expect([status, headers.get('content-length'), got.length]).toEqual([200, '0', 0]);
    const response = await download(api, empty, { headers: { range: 'bytes=0-' } });
    expect([response.status, response.headers.get('content-range')]).toEqual([416, 'bytes */0']);
  });

  test('If-Range: a part of this content, the whole of any other', async () => {
    const range = 'bytes=0-9';
    const request = async (ifRange: string) =>
      (await download(api, path, { headers: { range, 'if-range': ifRange } })).status;
    expect(await request(etag)).toBe(206);
    expect(await request(`"${sha256(newContent())}"`)).toBe(200);
    expect(await request(`W/${etag}`)).toBe(200);
    expect(await request('Sat, 21 Nov 2026 10:00:00 GMT')).toBe(200);
  });

  test('If-None-Match comes first', async () => {
    const headers = { range: 'bytes=0-9', 'if-none-match': etag };
    const response = await download(api, path, { headers });
    expect([response.status, response.content.length]).toEqual([304, 0]);
    expect(response.headers.get('etag')).toBe(etag);
    expect((await download(api, path, { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
  });

  test('HEAD has the headers of the whole content, and keeps nothing open', async () => {
    const descriptors = () => readdirSync('/proc/self/fd').length;
    await download(api, path, { method: 'HEAD' });
    const before = descriptors();
    for (let n = 0; n < 50; n += 1) {
      const head = await download(api, path, { method: 'HEAD', headers: { range: 'bytes=0-9' } });
      expect([head.status, head.headers.get('content-length')]).toEqual([200, '1000']);
    }
    await expect.poll(descriptors).toBeLessThan(before + 20);
  });
});

test('curl resumes an interrupted download', async () => {
  if (spawnSync('curl', ['--version']).status !== 0) return;
  const app = await newApp(api);
  const content = newContent(3_000_000);
  await upload(api, app, 'a', content);
  const target = join(await temporaryFolder(), 'a');
  const url = api.baseUrl + downloadOf(app, 'a');
  const curl = async (...options: string[]) => {
    const child = spawn('curl', ['-sf', '-o', target, ...options, url]);
    const [code] = (await once(child, 'exit')) as [number];
    return code;
  };
  expect(await curl('-r', '0-999999')).toBe(0);
  expect(readFileSync(target)).toHaveLength(1_000_000);
  expect(await curl('-C', '-')).toBe(0);
  expect(sha256(readFileSync(target))).toBe(sha256(content));
});

test('SERVICE_UNAVAILABLE with Retry-After when the store has lost the content', async () => {
  const app = await newApp(api);
  const folder = await temporaryFolder();
  const lost = await startFileService({ DATA_DIR: folder, DATABASE_URL: service.databaseUrl });
  await upload(lost.api, app, 'a', 'x');
  await rm(join(folder, 'files'), { recursive: true });
  const response = await download(api, downloadOf(app, 'a'));
  expect([response.status, response.body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect(response.headers.get('retry-after')).toBe('1');
  expect((await api.call('GET', '/health')).status).toBe(200);
});

test('FILE_NOT_FOUND, APPLICATION_NOT_FOUND and APPLICATION_INACTIVE', async () => {
  const app = await newApp(api);
  await upload(api, app, 'a', 'x');
  const get = (path: string) => api.call('GET', path);
  expectError(await get(downloadOf(app, 'b')), 404, 'FILE_NOT_FOUND');
  expectError(await get(downloadOf({ app_id: 'absent' }, 'a')), 404, 'APPLICATION_NOT_FOUND');
  await app.patch({ status: 'disabled' });
  expectError(await get(downloadOf(app, 'a')), 401, 'APPLICATION_INACTIVE');
});

test('a file that is replaced while it is opened is checked again for authenticated_only', async () => {
  const app = await newApp(api);
  await upload(api, app, 'patch.bin', 'public');
  let opened = 0;
  const blobs: Blobs = {
    embedded: true,
    put: async () => {},
    async open() {
      opened += 1;
      await upload(api, app, 'patch.bin', 'secret', '?authenticated_only=true');
      throw new BlobsUnavailableError('cleared');
    },
    delete: async () => {},
    close: () => {},
  };
  const { applications, events } = service.services;
  const newId = createNewId(clock, systemRandom);
  const { knex } = service.database;
  const files = createFiles({ knex, applications, events, blobs, clock, newId, quotaBytes: 1000 });
  const wishes = { range: undefined, ifRange: undefined, ifNoneMatch: undefined };
  const opening = files.downloadForProgram(
    { appId: app.app_id, session: undefined, trust: undefined },
    'patch.bin',
    wishes,
  );
  await expect(opening).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  expect(opened).toBe(1);
});
