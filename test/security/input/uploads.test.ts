import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../contract/operations.ts';
import { newApp, unique } from '../../support/fixtures.ts';
import { expectContract } from '../../support/exchange.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { startTestService } from '../../support/service.ts';
import { fileOf, putFile, sha256 } from '../../operations/support/files.ts';
import { NAUGHTY_DATES, NAUGHTY_STRINGS, NUMBERS, spread } from '../support/hostile.ts';
import { sendRaw } from '../support/raw.ts';
import { expectNoFailure, requestOf, type Request } from '../support/requests.ts';

const service = await startTestService({ DATA_DIR: await temporaryFolder(afterAll) });
const { api } = service;

const bytes = (...parts: (string | Buffer)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)));
const BOM = '\ufeff';
/** Input that can be read as a table, too. */
const ACCEPTED_OR_REFUSED = [201, 400];
const MEGABYTE = 'a'.repeat(1_048_576);

/** A table that an operation imports. */
interface Table {
  readonly operationId: string;
  readonly mediaType: string;
  readonly heading: string;
  /** A row with the required cells and one other cell. */
  readonly line: (column: string, cell: string) => string;
  readonly columns: readonly string[];
  /** The header of `line`. */
  readonly headingOf: (column: string) => string;
  readonly most: number;
}

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
const newKey = () => unique('IMPORTED-KEY').toUpperCase();

const TABLES: readonly Table[] = [
  {
    operationId: 'importLicenses',
    mediaType: 'text/csv',
    heading: 'license_key,tier,duration_days,note,redeem_by,status',
    columns: ['license_key', 'tier', 'duration_days', 'note', 'redeem_by', 'status'],
    headingOf: (column) =>
      ['license_key', 'tier', 'duration_days'].includes(column)
        ? 'license_key,tier,duration_days'
        : `license_key,tier,duration_days,${column}`,
    line(column, cell) {
      const cells = new Map([
        ['license_key', newKey()],
        ['tier', 'Pro'],
        ['duration_days', '30'],
      ]);
      cells.set(column, cell);
      return [...cells.values()].map(quoted).join(',');
    },
    most: 100_000,
  },
  {
    operationId: 'importUsers',
    mediaType: 'text/csv',
    heading: 'username,email,role,password_hash,tier,days,expires_at',
    columns: ['username', 'email', 'role', 'password_hash', 'tier', 'days', 'expires_at'],
    headingOf: (column) =>
      column === 'username' ? column : `username,${column},tier`.replace(',tier,tier', ',tier'),
    line(column, cell) {
      if (column === 'username') return quoted(cell);
      const rest = column === 'tier' ? [cell] : [cell, ['days', 'expires_at'].includes(column) ? 'Pro' : ''];
      return [unique('u'), ...rest].map(quoted).join(',');
    },
    most: 50_000,
  },
];

const operationOf = (id: string) => operations.find(({ operationId }) => operationId === id)!;

function upload(request: Request, mediaType: string, body: string | Buffer, headers = {}) {
  return request.send({
    body: Buffer.from(body),
    headers: { 'content-type': mediaType, ...headers },
  });
}

describe.each(TABLES)('$operationId in CSV', (table) => {
  const { heading, line, mediaType, columns, headingOf, most } = table;
  let request: Request;
  beforeAll(async () => {
    request = await requestOf(service, operationOf(table.operationId));
  });
  const first = columns[0]!;
  const good = () => `${headingOf(first)}\n${line(first, newKey())}\n`;

  async function responseTo(body: string | Buffer, what: string, headers = {}) {
    return expectNoFailure(upload(request, mediaType, body, headers), `${table.operationId}: ${what}`);
  }

  test.each<[string, () => string | Buffer, number | typeof ACCEPTED_OR_REFUSED]>([
    ['nothing', () => '', 400],
    ['a byte order mark alone', () => BOM, 400],
    ['a byte order mark before the heading', () => BOM + good(), 201],
    ['two byte order marks', () => BOM + BOM + good(), ACCEPTED_OR_REFUSED],
    ['a byte order mark in the middle', () => good().replace('\n', `\n${BOM}`), 400],
    ['the heading alone', () => heading, 400],
    ['an empty heading', () => `\n${line(first, newKey())}`, 400],
    ['no heading', () => line(first, newKey()), 400],
    ['the heading twice', () => `${headingOf(first)}\n${good()}`, ACCEPTED_OR_REFUSED],
    ['a column twice', () => `${heading},${first}\n`, 400],
    ['an unknown column', () => `${heading},__proto__\n`, 400],
    ['columns named as members of objects', () => 'constructor,toString,hasOwnProperty\na,b,c\n', 400],
    ['no needed column', () => `${columns.slice(1).join(',')}\n`, 400],
    ['columns in capitals', () => good().toUpperCase(), 400],
    ['an unclosed quote', () => `${good()}"${'a'.repeat(100)}`, 400],
    ['a quote in the middle of a cell', () => `${good()}a"b\n`, 400],
    ['text after a quote', () => `${good()}"a"b\n`, 400],
    ['an unclosed quote in the header', () => `"${good()}`, 400],
    ['too few cells', () => `${heading}\na\n`, 400],
    ['too many cells', () => `${heading}\n${'a,'.repeat(5_000)}\n`, 400],
    ['NUL', () => `${heading}\n\u0000`, 400],
    ['NUL in the heading', () => `\u0000${good()}`, 400],
    ['UTF-16', () => bytes(Buffer.from(BOM + good(), 'utf16le')), 400],
    ['invalid UTF-8', () => bytes(good(), Buffer.from([0x61, 0xff, 0x0a])), 400],
    ['half a character at the end', () => bytes(good(), Buffer.from([0xf0, 0x9f, 0x92])), 400],
    ['a surrogate in UTF-8', () => bytes(good(), Buffer.from([0xed, 0xa0, 0x80])), 400],
    ['line ends of old Macs', () => good().replaceAll('\n', '\r'), 201],
    ['line ends of Windows', () => good().replaceAll('\n', '\r\n'), 201],
    ['empty lines', () => `${good()}\n\n`, 201],
    ['another separator', () => good().replaceAll(',', ';').replace('\n', ';x\n'), 400],
    ['a line of a megabyte', () => `${good()}${MEGABYTE}\n`, 400],
    ['a heading of a megabyte', () => `${MEGABYTE}\n`, 400],
    ['a quoted line of a megabyte', () => `${good()}"${MEGABYTE}"\n`, 400],
    ['a megabyte of line ends', () => `${heading}${'\n'.repeat(1_048_576)}`, 400],
    ['a megabyte of quotes', () => `${heading}\n${'"'.repeat(1_048_576)}`, 400],
    ['a megabyte of commas', () => `${heading}\n${','.repeat(1_048_576)}`, 400],
    ['JSON', () => JSON.stringify([{ [first]: 'a' }]), 400],
    ['gzip', () => Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), 400],
  ])('%s', async (what, body, status) => {
    const response = await responseTo(body(), what);
    expect([status].flat(), JSON.stringify(response)).toContain(response.status);
  });

  test('one row over the limit', async () => {
    const lines = Array.from({ length: most + 1 }, (_, index) => line(first, `LINE-${100_000 + index}`));
    const { status } = await responseTo(`${headingOf(first)}\n${lines.join('\n')}`, 'lines');
    expect(status).toBe(400);
  });

  test('a body over the limit', async () => {
    const { status } = await responseTo(Buffer.alloc(32 * 1_048_576 + 1, 'a,\n'), 'large');
    expect(status).toBe(413);
  });

  test.each([
    'text/csv; charset=utf-16',
    'text/csv; charset=utf-8; charset=x',
    'text/csv;',
    'text/plain',
    '',
    '*/*',
  ])('the type %s', async (type) => {
    const { status } = await responseTo(good(), type, { 'content-type': type });
    expect([201, 415]).toContain(status);
  });

  test('hostile text in every column: accepted or refused', async () => {
    const texts = [...NAUGHTY_STRINGS.filter((text) => text.length < 4_000), ...NAUGHTY_DATES, ...NUMBERS];
    const share = spread();
    for (const [index, column] of columns.entries()) {
      // The first column and dates get all of them.
      const rule = index === 0 || /_by$|_at$/.test(column) ? column : 'others';
      for (const text of share(rule, texts)) {
        const what = `${column} ${JSON.stringify(text)}`;
        const { status } = await responseTo(`${headingOf(column)}\n${line(column, text)}\n`, what);
        expect([201, 400, 409], what).toContain(status);
      }
    }
  });
});

describe('importUsersFromNdjson', () => {
  let request: Request;
  beforeAll(async () => {
    request = await requestOf(service, operationOf('importUsersFromNdjson'));
  });
  const good = () => `${JSON.stringify({ username: unique('u') })}\n`;
  const responseTo = (body: string | Buffer, what: string) =>
    expectNoFailure(upload(request, 'application/x-ndjson', body), what);

  test.each<[string, () => string | Buffer, number | typeof ACCEPTED_OR_REFUSED]>([
    ['nothing', () => '', 400],
    ['line ends alone', () => '\n\r\n\n', 400],
    ['a byte order mark', () => BOM + good(), 201],
    ['a byte order mark in the middle', () => good() + BOM + good(), 400],
    ['an array', () => `[${good().trim()}]`, 400],
    ['two objects in a line', () => good().trim() + good(), 400],
    ['an object over two lines', () => good().replace(':', ':\n'), 400],
    ['null', () => 'null\n', 400],
    ['a text', () => '"username"\n', 400],
    ['a member twice', () => '{"username":"a","username":"b"}', 400],
    ['a member twice, once with an escape', () => '{"username":"a","\\u0075sername":"b"}', 400],
    ['__proto__', () => '{"username":"a","__proto__":{"role":"admin"}}', 400],
    ['an unknown member', () => '{"username":"a","constructor":"b"}', 400],
    ['NUL', () => '{"username":"a\\u0000"}', 400],
    ['a raw NUL', () => '{"username":"a\u0000"}', 400],
    ['a lone surrogate', () => '{"username":"\\ud800"}', 400],
    ['a lone surrogate in a role', () => '{"username":"lone","role":"\\udc00"}', 400],
    ['invalid UTF-8', () => bytes('{"username":"', Buffer.from([0xff]), '"}'), 400],
    ['half a character at the end', () => bytes(good(), Buffer.from([0xf0, 0x9f])), 400],
    ['UTF-16', () => Buffer.from(good(), 'utf16le'), 400],
    ['a line of a megabyte', () => good() + MEGABYTE, 400],
    ['a name of a megabyte', () => `{"username":"${MEGABYTE}"}`, 400],
    ['deep nesting', () => `{"username":${'['.repeat(4_000)}${']'.repeat(4_000)}}`, 400],
    ['many line ends', () => '\n'.repeat(1_048_576), 400],
    ['carriage returns alone', () => '\r'.repeat(1_048_576), 400],
    ['CSV', () => 'username\nada\n', 400],
  ])('%s', async (what, body, status) => {
    const response = await responseTo(body(), what);
    expect([status].flat(), JSON.stringify(response)).toContain(response.status);
  });

  test('hostile values in every member: accepted or refused', async () => {
    const values = [
      ...NUMBERS,
      'true',
      '[]',
      '{}',
      'null',
      ...NAUGHTY_STRINGS.map((text) => JSON.stringify(text)),
    ];
    for (const member of ['username', 'email', 'role', 'password_hash', 'tier', 'days', 'expires_at']) {
      for (const value of values) {
        const body =
          member === 'username'
            ? `{"username":${value}}`
            : `{"username":"${unique('u')}","${member}":${value}${/^(days|expires)/.test(member) ? ',"tier":"Pro"' : ''}}`;
        const { status } = await responseTo(body, body.slice(0, 200));
        expect([201, 400, 409], body.slice(0, 200)).toContain(status);
      }
    }
  });
});

describe('uploadFile', () => {
  const content = Buffer.from('content');
  const right = sha256(content);
  const digest = `sha-256=:${sha256(content, 'base64')}:`;

  test.each<[string, Buffer, Record<string, string>, number]>([
    ['nothing at all', Buffer.alloc(0), {}, 200],
    ['a right checksum', content, { 'x-checksum-sha256': right }, 200],
    ['a right checksum in capitals', content, { 'x-checksum-sha256': right.toUpperCase() }, 200],
    ['a wrong checksum', content, { 'x-checksum-sha256': '0'.repeat(64) }, 400],
    ['a checksum of nothing', content, { 'x-checksum-sha256': sha256(Buffer.alloc(0)) }, 400],
    ['a checksum that is too short', content, { 'x-checksum-sha256': right.slice(1) }, 400],
    [
      'a right and a wrong checksum',
      content,
      { 'x-checksum-sha256': right, 'content-digest': 'sha-256=:AA==:' },
      400,
    ],
    ['a right digest', content, { 'content-digest': digest }, 200],
    ['two digests, the second one wrong', content, { 'content-digest': `${digest}, sha-256=:AA==:` }, 400],
    ['a digest that is cut off', content, { 'content-digest': digest.slice(0, -1) }, 400],
    ['another type', content, { 'content-type': 'text/html' }, 415],
    ['no type', content, { 'content-type': '' }, 200],
    ['compressed', content, { 'content-encoding': 'gzip' }, 415],
  ])('%s', async (_what, sent, headers, status) => {
    const app = await newApp(api);
    const response = await putFile(api, app, 'setup.bin', sent, '', headers);
    expect(response.status, JSON.stringify(response.body)).toBe(status);
    const { status: found } = await api.call('GET', fileOf(app, 'setup.bin'), undefined, app);
    expect(found).toBe(status === 200 ? 200 : 404);
  });

  const CHUNKED = 'transfer-encoding: chunked';
  test.each<[string, string, string, number]>([
    ['no length', '', 'content', 200],
    ['in chunks', CHUNKED, '7\r\ncontent\r\n0\r\n\r\n', 200],
    ['in no chunks', CHUNKED, '0\r\n\r\n', 200],
    ['in a chunk without a length', CHUNKED, '\r\ncontent\r\n', 400],
    ['in a chunk whose length is not a number', CHUNKED, 'zz\r\ncontent\r\n', 400],
    ['in a chunk that is too long', CHUNKED, 'ffffffffffffffffff\r\ncontent\r\n', 400],
    ['with a negative length', 'content-length: -1', 'content', 400],
    ['with a length that is not a number', 'content-length: 0x7', 'content', 400],
    ['with two lengths', 'content-length: 7\r\ncontent-length: 8', 'content', 400],
    ['with a length and in chunks', `content-length: 7\r\n${CHUNKED}`, '0\r\n\r\n', 400],
    ['over the limit', 'content-length: 1073741825', 'content', 413],
    ['with a length beyond 2^64', 'content-length: 99999999999999999999', 'content', 400],
  ])('%s', async (_what, header, sent, status) => {
    const app = await newApp(api);
    const path = fileOf(app, 'setup.bin');
    const head = [
      `PUT ${path} HTTP/1.1`,
      'host: localhost',
      `authorization: Bearer ${app.token}`,
      'content-type: application/octet-stream',
      ...(header === '' ? [] : [header]),
    ];
    const { responses } = await sendRaw(api.baseUrl, `${head.join('\r\n')}\r\n\r\n${sent}`);
    expect(responses[0]?.status).toBe(status);
    expectContract({ method: 'PUT', path, ...responses[0]! });
    const { status: found } = await api.call('GET', path, undefined, app);
    expect(found).toBe(status === 200 ? 200 : 404);
  });
});
