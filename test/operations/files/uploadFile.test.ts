import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { sendRaw } from '../../security/support/raw.ts';
import { SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, type App } from '../../support/fixtures.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import {
  download,
  downloadOf,
  fileOf,
  filesOf,
  newContent,
  putFile,
  sha256,
  startFileService,
  upload,
} from '../support/files.ts';
import { auditOf } from '../support/variables.ts';

const service = await startFileService({ FILE_MAX_BYTES: '100000', FILE_QUOTA_BYTES: '150000' });
const { api, clock, databaseUrl, contents } = service;

const read = async (app: App, name: string) => (await download(api, downloadOf(app, name))).content;
const names = async (app: App) => {
  const { body } = await api.call('GET', filesOf(app), undefined, { token: app.token });
  return (body['data'] as { name: string }[]).map(({ name }) => name);
};

test('stores the content and returns its description', async () => {
  const app = await newApp(api);
  const content = newContent();
  const now = clock.now().toISOString();
  expect(await upload(api, app, 'setup.exe', content, '?version=1.4.2&authenticated_only=false')).toEqual({
    status: 'success',
    file_id: expect.stringMatching(/^fil_[0-9a-z]{26}$/) as string,
    name: 'setup.exe',
    version: '1.4.2',
    size: content.length,
    sha256: sha256(content),
    authenticated_only: false,
    created_at: now,
    updated_at: now,
  });
  expect(await read(app, 'setup.exe')).toEqual(content);
});

test('replaces the content; omitted members stay', async () => {
  const app = await newApp(api);
  const first = await upload(api, app, 'a', newContent(), '?version=1&authenticated_only=true');
  clock.advance(SECOND);
  const content = newContent(2000);
  const second = await upload(api, app, 'a', content);
  expect(second).toEqual({
    ...first,
    size: 2000,
    sha256: sha256(content),
    updated_at: clock.now().toISOString(),
  });
  expect(await upload(api, app, 'a', content, '?version=2&authenticated_only=false')).toMatchObject({
    version: '2',
    authenticated_only: false,
  });
  expect(await read(app, 'a')).toEqual(content);
  expect(await names(app)).toEqual(['a']);
});

test('a new file has no version and is public', async () => {
  const app = await newApp(api);
  expect(await upload(api, app, 'a', 'x')).toMatchObject({ version: null, authenticated_only: false });
});

test('notifies sessions, and the audit log names the actor', async () => {
  const app = await newApp(api);
  const { file_id } = await upload(api, app, 'a', 'x', '?version=1');
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query(
    `select data from events where app_id = $1 and type = 'file.uploaded'`,
    [app.app_id],
  );
  const data = {
    file_id,
    name: 'a',
    version: '1',
    size: 1,
    sha256: sha256(Buffer.from('x')),
    authenticated_only: false,
  };
  expect(rows).toEqual([{ data }]);
  expect((await auditOf(api, app))[0]).toMatchObject({ action: 'file.uploaded', target: file_id, data });
});

describe('names', () => {
  test.each([
    ['a space', 'my file.txt'],
    ['any script', 'ключ 🔑.bin'],
    ['composed and decomposed', 'e\u0301é'],
    ['quotes and percents', `a"b'c%20d%2F;e`],
    ['what shells know', '$(rm -rf ~);|&<>*?`'],
    ['dots', '...'],
    ['what Windows keeps for itself', 'CON'],
    ['128 characters', 'ä'.repeat(128)],
    ['128 long characters', '🔑'.repeat(128)],
    ['JavaScript', '__proto__'],
    ['hidden', '.htaccess'],
  ])('are kept exactly: %s', async (_what, name) => {
    const app = await newApp(api);
    const content = newContent();
    expect((await upload(api, app, name, content)).name).toBe(name);
    expect(await names(app)).toEqual([name]);
    const { headers, content: read } = await download(api, downloadOf(app, name));
    expect(read).toEqual(content);
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename/);
    // No file on the disk has the name.
    for (const kept of await contents()) expect(kept).toMatch(/^blb_[0-9a-z]{26}$/);
  });

  test('that differ in case or composition are different', async () => {
    const app = await newApp(api);
    for (const name of ['A', 'a', 'e\u0301', 'é']) await upload(api, app, name, name);
    for (const name of ['A', 'a', 'e\u0301', 'é']) expect((await read(app, name)).toString()).toBe(name);
  });

  test.each([
    ['%2e%2e', 'path/file_name'],
    ['%2e', 'path/file_name'],
    ['.', 'path/file_name'],
    ['..', 'path/file_name'],
    ['..%2f..%2fetc%2fpasswd', 'path/file_name'],
    ['..%5c..%5cboot.ini', 'path/file_name'],
    ['%2fetc%2fpasswd', 'path/file_name'],
    ['a%00.exe', 'path/file_name'],
    ['a%0d%0aX-Injected:%201', 'path/file_name'],
    ['a%7f', 'path/file_name'],
    ['a%c2%85', 'path/file_name'],
    ['exe.%e2%80%aegnp', 'path/file_name'],
    ['a%e2%80%8b', 'path/file_name'],
    ['a'.repeat(129), 'path/file_name'],
  ])('VALIDATION_FAILED for %s', async (name, pointer) => {
    const app = await newApp(api);
    const path = `${filesOf(app)}/${name}`;
    const head =
      `Host: a\r\nAuthorization: Bearer ${app.token}\r\n` +
      'Content-Type: application/octet-stream\r\nContent-Length: 1\r\n\r\nx';
    const before = await contents();
    const { responses } = await sendRaw(api.baseUrl, `PUT ${path} HTTP/1.1\r\n${head}`);
    const body = JSON.parse(responses[0]!.text) as { errors: { pointer: string }[] };
    expect({ status: responses[0]!.status, pointers: body.errors.map((error) => error.pointer) }).toEqual({
      status: 400,
      pointers: [pointer],
    });
    expect(await names(app)).toEqual([]);
    expect(await contents()).toEqual(before);
  });

  test.each(['%ff', '%c0%af', '%ed%a0%80', '%', '%zz'])('MALFORMED_REQUEST for %s', async (name) => {
    const app = await newApp(api);
    const head =
      `Host: a\r\nAuthorization: Bearer ${app.token}\r\n` +
      'Content-Type: application/octet-stream\r\nContent-Length: 1\r\n\r\nx';
    const { responses } = await sendRaw(api.baseUrl, `PUT ${filesOf(app)}/${name} HTTP/1.1\r\n${head}`);
    expect(JSON.parse(responses[0]!.text)).toMatchObject({ status: 400, code: 'MALFORMED_REQUEST' });
  });

  test('with a slash are another path', async () => {
    const app = await newApp(api);
    const { responses } = await sendRaw(
      api.baseUrl,
      `PUT ${filesOf(app)}/../x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`,
    );
    expect(responses[0]!.status).toBe(404);
  });
});

describe('the content', () => {
  test.each([0, 1, 65_536, 65_537, 100_000])('may have %i bytes', async (bytes) => {
    const app = await newApp(api);
    const content = newContent(bytes);
    expect(await upload(api, app, 'a', content)).toMatchObject({ size: bytes, sha256: sha256(content) });
    expect(await read(app, 'a')).toEqual(content);
  });

  test('PAYLOAD_TOO_LARGE above FILE_MAX_BYTES, announced or not, and nothing of it stays', async () => {
    const app = await newApp(api);
    const before = await contents();
    expectError(await putFile(api, app, 'a', newContent(100_001)), 413, 'PAYLOAD_TOO_LARGE');
    const sent = request(api.baseUrl + fileOf(app, 'a'), {
      method: 'PUT',
      headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/octet-stream' },
    });
    sent.write(newContent(60_000));
    sent.end(newContent(60_000));
    const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(413);
    expect(await names(app)).toEqual([]);
    await expect.poll(contents).toEqual(before);
  });

  test('has its maximum size in the served contract', async () => {
    const document = (await (await fetch(`${api.baseUrl}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, Record<string, unknown>>>;
    };
    const { put } = document.paths['/api/v2/dev/apps/{app_id}/files/{file_name}']!;
    expect(put!['x-max-bytes']).toBe(100_000);
  });

  test('that is interrupted changes nothing and leaves nothing', async () => {
    const app = await newApp(api);
    const content = newContent();
    await upload(api, app, 'a', content);
    const before = await contents();
    for (const name of ['a', 'b']) {
      const sent = request(api.baseUrl + fileOf(app, name), {
        method: 'PUT',
        headers: {
          authorization: `Bearer ${app.token}`,
          'content-type': 'application/octet-stream',
          'content-length': '90000',
        },
      });
      sent.on('error', () => {});
      sent.write(newContent(50_000));
      await expect.poll(async () => (await contents()).length).toBe(before.length + 1);
      sent.destroy();
      await expect.poll(contents).toEqual(before);
    }
    expect(await names(app)).toEqual(['a']);
    expect(await read(app, 'a')).toEqual(content);
    const database = await connectTo(databaseUrl);
    await expect
      .poll(async () => (await database.query('select 1 from blobs where clear_after is not null')).rowCount)
      .toBe(await countReplaced());
  });

  async function countReplaced(): Promise<number> {
    const database = await connectTo(databaseUrl);
    const { rows } = await database.query<{ n: number }>(
      'select count(*)::int as n from blobs where clear_after is not null and blob_id = any($1)',
      [await contents()],
    );
    return rows[0]!.n;
  }

  test('UNSUPPORTED_MEDIA_TYPE unless it is application/octet-stream', async () => {
    const app = await newApp(api);
    for (const type of ['application/json', 'text/html', 'multipart/form-data; boundary=a']) {
      const response = await putFile(api, app, 'a', 'x', '', { 'content-type': type });
      expectError(response, 415, 'UNSUPPORTED_MEDIA_TYPE');
    }
    const encoded = await putFile(api, app, 'a', 'x', '', { 'content-encoding': 'gzip' });
    expectError(encoded, 415, 'UNSUPPORTED_MEDIA_TYPE');
  });
});

describe('checksums', () => {
  const content = newContent();
  const hex = sha256(content);
  const base64 = sha256(content, 'base64');

  test.each<[string, Record<string, string>]>([
    ['in hexadecimal', { 'x-checksum-sha256': hex }],
    ['in capitals', { 'x-checksum-sha256': hex.toUpperCase() }],
    ['as Content-Digest', { 'content-digest': `sha-256=:${base64}:` }],
    ['with other algorithms', { 'content-digest': `sha-512=:AAAA:, sha-256=:${base64}:, md5=:AAAA:` }],
    ['of another algorithm alone', { 'content-digest': 'sha-512=:AAAA:' }],
    ['in both ways', { 'x-checksum-sha256': hex, 'content-digest': `sha-256=:${base64}:` }],
  ])('that are right: %s', async (_how, headers) => {
    expect((await putFile(api, await newApp(api), 'a', content, '', headers)).status).toBe(200);
  });

  test.each<[string, Record<string, string>]>([
    ['in hexadecimal', { 'x-checksum-sha256': sha256(newContent()) }],
    ['as Content-Digest', { 'content-digest': `sha-256=:${sha256(newContent(), 'base64')}:` }],
    ['cut short', { 'content-digest': `sha-256=:${base64.slice(0, 20)}:` }],
    ['that cannot be read', { 'content-digest': `sha-256=${base64}` }],
    ['of which one is right', { 'x-checksum-sha256': hex, 'content-digest': 'sha-256=:AAAA:' }],
  ])('CHECKSUM_MISMATCH for wrong ones: %s', async (_how, headers) => {
    const app = await newApp(api);
    await upload(api, app, 'a', 'before');
    const before = await contents();
    expectError(await putFile(api, app, 'a', content, '', headers), 400, 'CHECKSUM_MISMATCH');
    expect((await read(app, 'a')).toString()).toBe('before');
    expect(await contents()).toEqual(before);
  });

  test('VALIDATION_FAILED for an invalid checksum', async () => {
    const response = await putFile(api, await newApp(api), 'a', 'x', '', { 'x-checksum-sha256': 'abc' });
    expectFaults(response, 'header/x-checksum-sha256');
  });
});

test.each([
  ['?version=', 'query/version'],
  ['?version=%20a', 'query/version'],
  ['?version=a%0Ab', 'query/version'],
  ['?version=%C3%A4', 'query/version'],
  [`?version=${'1'.repeat(65)}`, 'query/version'],
  ['?authenticated_only=1', 'query/authenticated_only'],
  ['?authenticated_only=', 'query/authenticated_only'],
  ['?authenticated_only=true&authenticated_only=false', 'query/authenticated_only'],
  ['?name=a', 'query/name'],
])('VALIDATION_FAILED for %s', async (query, pointer) => {
  expectFaults(await putFile(api, await newApp(api), 'a', 'x', query), pointer);
});

test('QUOTA_EXCEEDED above 1000 files; an existing one can still be replaced', async () => {
  const app = await newApp(api);
  const database = await connectTo(databaseUrl);
  await database.query(`insert into blobs select $1 || n, null from generate_series(1, 999) n`, [app.app_id]);
  await database.query(
    `insert into files (file_id, app_id, name, authenticated_only, size, sha256, blob_id, created_at, updated_at)
     select $1 || n, $1, 'n' || n, false, 0, sha256(''), $1 || n, now(), now() from generate_series(1, 999) n`,
    [app.app_id],
  );
  await upload(api, app, 'last', 'x');
  const before = await contents();
  expectError(await putFile(api, app, 'more', 'x'), 403, 'QUOTA_EXCEEDED');
  expect(await contents()).toEqual(before);
  await upload(api, app, 'last', 'y');
});

describe('QUOTA_EXCEEDED above FILE_QUOTA_BYTES', () => {
  const twoApps = async () => {
    const developer = await newDeveloper(api);
    return [await newApp(api, developer), await newApp(api, developer)] as const;
  };
  const isFull = async (app: App, name: string, bytes: number) => {
    const before = await contents();
    expectError(await putFile(api, app, name, newContent(bytes)), 403, 'QUOTA_EXCEEDED');
    expect(await contents()).toEqual(before);
  };

  test('of all applications of the developer, and of no one else', async () => {
    const [one, two] = await twoApps();
    await upload(api, one, 'a', newContent(90_000));
    await isFull(two, 'b', 60_001);
    await upload(api, two, 'b', newContent(60_000));
    await isFull(one, 'c', 1);
    await upload(api, one, 'empty', '');
    expect(await names(two)).toEqual(['b']);
    await upload(api, await newApp(api), 'a', newContent(100_000));
  });

  test('replaced or deleted contents, and deleted applications, no longer count', async () => {
    const [one, two] = await twoApps();
    await upload(api, one, 'a', newContent(100_000));
    await upload(api, one, 'a', newContent(100_000));
    await upload(api, one, 'a', newContent(80_000));
    await isFull(two, 'b', 70_001);
    await upload(api, two, 'b', newContent(70_000));
    await isFull(two, 'b', 70_001);
    await api.call('DELETE', fileOf(two, 'b'), undefined, { token: two.token });
    await upload(api, two, 'c', newContent(50_000));
    await isFull(two, 'd', 20_001);
    await api.call('DELETE', `/api/v2/dev/apps/${one.app_id}`, undefined, { token: one.token });
    await upload(api, two, 'd', newContent(100_000));
  });

  test('files that are too large together can shrink, but not grow', async () => {
    const [one, two] = await twoApps();
    await upload(api, one, 'a', newContent(50_000));
    await upload(api, two, 'b', newContent(50_000));
    const database = await connectTo(databaseUrl);
    await database.query('update files set size = 200000 where app_id = $1', [two.app_id]);
    await isFull(one, 'a', 50_001);
    await upload(api, one, 'a', newContent(50_000));
    await upload(api, one, 'a', newContent(49_999));
    await isFull(one, 'a', 50_000);
  });

  test.each([
    ['before anything of it has come, where its length is announced', { 'content-length': '60001' }, 0],
    ['as soon as too much has come, where it is not', {}, 60_001],
  ])('returns %s', async (_, announced, bytes) => {
    const [one, two] = await twoApps();
    await upload(api, one, 'a', newContent(90_000));
    const before = await contents();
    const sent = request(api.baseUrl + fileOf(two, 'b'), {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${two.token}`,
        'content-type': 'application/octet-stream',
        ...announced,
      },
    });
    if (bytes > 0) sent.write(newContent(bytes));
    else sent.flushHeaders();
    const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
    expect(response.statusCode).toBe(403);
    sent.on('error', () => {}).destroy();
    await expect.poll(contents).toEqual(before);
  });
});

test('TOO_MANY_REQUESTS for a fifth concurrent upload; other developers are not affected', async () => {
  const app = await newApp(api);
  const before = (await contents()).length;
  const open = Array.from({ length: 4 }, (_, n) => {
    const sent = request(api.baseUrl + fileOf(app, `slow-${n}`), {
      method: 'PUT',
      headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/octet-stream' },
    });
    sent.write('x');
    return sent;
  });
  await expect.poll(async () => (await contents()).length).toBe(before + 4);
  const refused = await putFile(api, app, 'a', 'x');
  expectError(refused, 429, 'TOO_MANY_REQUESTS');
  expect(refused.headers.get('retry-after')).toBe('1');
  await upload(api, await newApp(api), 'a', 'x');
  for (const sent of open) {
    const received = once(sent, 'response') as Promise<[import('node:http').IncomingMessage]>;
    sent.end();
    const [response] = await received;
    response.resume();
    expect(response.statusCode).toBe(200);
  }
  await upload(api, app, 'a', 'x');
});

test('APPLICATION_NOT_FOUND before anything is stored', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const before = await contents();
  const foreign = await putFile(api, { ...app, token: other.token }, 'a', newContent());
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  expect(await contents()).toEqual(before);
});

test('an Idempotency-Key does not buffer the content in memory, because the operation accepts none', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const sent = request(api.baseUrl + fileOf(app, 'a'), {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${other.token}`,
      'content-type': 'application/octet-stream',
      'idempotency-key': 'any',
    },
  });
  sent.on('error', () => {}).write('x');
  // The response comes while the body continues.
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  expect(response.statusCode).toBe(404);
  sent.destroy();
});

describe('an upload that takes long', () => {
  const MINUTE = 60 * SECOND;

  /** Begins an upload of which a part has arrived. */
  async function begin(app: App): Promise<(content: string) => Promise<number>> {
    const before = (await contents()).length;
    const sent = request(api.baseUrl + fileOf(app, 'slow'), {
      method: 'PUT',
      headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/octet-stream' },
    });
    const received = once(sent, 'response') as Promise<[import('node:http').IncomingMessage]>;
    sent.write('first ');
    await expect.poll(async () => (await contents()).length).toBe(before + 1);
    return async (content) => {
      sent.end(content);
      const [response] = await received;
      response.resume();
      return response.statusCode!;
    };
  }

  test('is kept by housekeeping while it progresses', async () => {
    const app = await newApp(api);
    const finish = await begin(app);
    clock.advance(55 * MINUTE);
    while ((await service.services.files.clearContents()) > 0);
    expect(await finish('last')).toBe(200);
    expect((await read(app, 'slow')).toString()).toBe('first last');
    clock.advance(55 * MINUTE);
    while ((await service.services.files.clearContents()) > 0);
    expect((await read(app, 'slow')).toString()).toBe('first last');
  });

  test('is aborted after an hour without progress: SERVICE_UNAVAILABLE, and nothing remains', async () => {
    const app = await newApp(api);
    const before = await contents();
    const finish = await begin(app);
    clock.advance(61 * MINUTE);
    while ((await service.services.files.clearContents()) > 0);
    expect(await finish('last')).toBe(503);
    expect((await contents()).filter((name) => !before.includes(name))).toEqual([]);
    expect(await names(app)).toEqual([]);
  });
});

test('SERVICE_UNAVAILABLE with Retry-After while the store is unavailable; everything else continues', async () => {
  const away = await startFileService({
    FILES_URL: 's3://key:secret@127.0.0.1:1/bucket?tls=off',
    DATABASE_URL: databaseUrl,
  });
  const app = await newApp(away.api);
  const response = await putFile(away.api, app, 'a', 'x');
  expectError(response, 503, 'SERVICE_UNAVAILABLE');
  expect(response.headers.get('retry-after')).toBe('1');
  expect(response.body).toMatchObject({ detail: 'The file store is unavailable.' });
  expect(await names(app)).toEqual([]);
  expect((await away.api.call('GET', '/health')).status).toBe(200);
  const database = await connectTo(databaseUrl);
  const { rowCount } = await database.query('select 1 from blobs where clear_after is not null');
  expect(rowCount).toBeGreaterThan(0);
});
