import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ChunkSizes } from '../../../src/http/server/chunk-sizes.ts';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { sendRaw, type RawExchange } from '../support/raw.ts';

const { api } = await startTestService();
const app = await newApp(api);

const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';
const routes = [
  ['/api/v1/client/login', JSON_TYPE],
  [`/api/v2/dev/apps/${app.app_id}/users/import/ndjson`, 'application/x-ndjson'],
  ['/api/v1/agent/revoke', 'application/secevent+jwt'],
  ['/oauth/token', FORM],
  ['/oauth/register', JSON_TYPE],
  ['/mcp', JSON_TYPE],
  ['/account/password', FORM],
  ['/no-such-page', JSON_TYPE],
] as const;

const head = (path: string, type: string, headers: string) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${app.token}\r\n` +
  `Content-Type: ${type}\r\n${headers}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

function expectClosed({ responses, milliseconds }: RawExchange): void {
  expect(responses.map(({ status }) => status)).toEqual([413]);
  expect(responses[0]!.headers.get('connection')).toBe('close');
  // The request timeout is 30 s.
  expect(milliseconds).toBeLessThan(5_000);
}

/** Sends each piece in a packet of its own. */
async function sendPieces(pieces: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(api.baseUrl);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  onTestFinished(() => void socket.destroy());
  const { promise, resolve } = Promise.withResolvers<void>();
  let received = '';
  socket.on('data', (data) => {
    received += data.toString();
  });
  socket.on('error', () => resolve());
  socket.on('close', () => resolve());
  for (const piece of pieces) {
    socket.write(piece);
    // A response on another connection means that the server has read the piece.
    await api.call('GET', '/health');
  }
  await promise;
  return received;
}

describe('a chunk larger than any body is refused at once', () => {
  test.each(routes)('%s', async (path, type) => {
    for (const size of ['ffffffffffffffff', '80000000', '0000000080000000;a=b']) {
      expectClosed(await sendRaw(api.baseUrl, `${head(path, type, CHUNKED)}${size}\r\n{`));
    }
  });

  test('after a valid chunk', async () => {
    expectClosed(await sendRaw(api.baseUrl, `${head('/mcp', JSON_TYPE, CHUNKED)}1\r\n{\r\nffffffffff\r\n`));
  });

  const start = head('/api/v1/client/login', JSON_TYPE, CHUNKED);
  test.each([
    ['after the head', [start, 'ffffffffffffffff\r\n']],
    ['in the size', [`${start}ffff`, 'ffffffffffff\r\n']],
    ['in the last header', [start.slice(0, -8), `${start.slice(-8)}ffffffffffffffff\r\n`]],
    ['in the end of the head', [start.slice(0, -1), '\nffffffffffffffff\r\n']],
    ['before the empty line', [start.slice(0, -2), '\r\nffffffffffffffff\r\n']],
    ['after a chunk', [start, '1\r\n{', '\r\nffffffffffffffff\r\n']],
  ])('when it arrives in pieces, cut %s', async (_where, pieces) => {
    expect(await sendPieces(pieces)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('on a connection that was used before', async () => {
    const whole = `${start}2\r\n{}\r\n0\r\n\r\n`;
    const received = await sendPieces([whole, whole, `${start}ffffffffffffffff\r\n`]);
    expect([...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual([
      '400',
      '400',
      '413',
    ]);
  });
});

describe('after other requests in one packet', () => {
  const HEALTH = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const login = head('/api/v1/client/login', JSON_TYPE, CHUNKED);
  const late = `${head('/api/v1/client/login', JSON_TYPE, `${CHUNKED}X-Late: 1\r\n`)}ffffffffffffffff\r\n`;
  const whole = `${login}2\r\n{}\r\n0\r\n\r\n`;
  const withTrailer = `${login}2\r\n{}\r\n0\r\nX-Trailer: 1\r\n\r\n`;
  const sized = `${head('/api/v1/client/login', JSON_TYPE, 'Content-Length: 2\r\n')}{}`;
  const over = `${login}ffffffffffffffff\r\n`;
  const blanks =
    `POST /api/v1/client/login HTTP/1.1\r\nHost:localhost\r\ncontent-TYPE:  ${JSON_TYPE} \r\n` +
    'Transfer-Encoding:\tchunked  \r\n\r\nffffffffffffffff\r\n';

  test.each<[string, readonly string[], readonly number[]]>([
    ['a request without a body', [HEALTH, over], [200, 413]],
    ['one in chunks with the same head', [whole, over], [400, 413]],
    ['several with the same head', [whole, whole, whole, over], [400, 400, 400, 413]],
    ['one with a trailer', [withTrailer, over], [400, 413]],
    ['one with a length', [sized, over], [400, 413]],
    [
      'others of all kinds',
      [sized, HEALTH, whole, sized, withTrailer, HEALTH, late],
      [400, 200, 400, 400, 400, 200, 413],
    ],
    ['one whose body looks like it', [`${login}8\r\n0\r\n\r\n0\r\n\r\n0\r\n\r\n`, over], [400, 413]],
    ['one, with blanks in the headers', [sized, blanks], [400, 413]],
  ])('%s', async (_what, requests, statuses) => {
    const { responses, milliseconds } = await sendRaw(api.baseUrl, requests.join(''), statuses.length);
    expect(responses.map(({ status }) => status)).toEqual(statuses);
    expect(responses.at(-1)!.headers.get('connection')).toBe('close');
    expect(milliseconds).toBeLessThan(5_000);
  });

  test('wherever the packets are cut', async () => {
    const bytes = [HEALTH, whole, sized, over].join('');
    const from = bytes.length - over.length - sized.length;
    // Line ends are the critical places.
    const cuts = Array.from({ length: bytes.length - 2 - from }, (_, index) => from + index).filter(
      (cut) => cut % 50 === 0 || /[\r\n]/.test(bytes.slice(cut - 2, cut + 1)),
    );
    expect(cuts.length).toBeGreaterThan(50);
    for (const cut of cuts) {
      const received = await sendPieces([bytes.slice(0, cut), bytes.slice(cut)]);
      const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
      expect({ cut, statuses }).toEqual({ cut, statuses: [200, 400, 400, 413] });
    }
  });

  test('valid requests get their responses', async () => {
    const requests = [whole, sized, HEALTH, whole, HEALTH];
    const { responses } = await sendRaw(api.baseUrl, requests.join(''), requests.length);
    expect(responses.map(({ status }) => status)).toEqual([400, 400, 200, 400, 200]);
  });
});

test('chunk extensions are limited', async () => {
  for (const [path, type] of routes) {
    const flood = `1;${'a'.repeat(20_000)}\r\n`;
    const { responses } = await sendRaw(api.baseUrl, head(path, type, CHUNKED) + flood);
    expect(responses[0]!.status, path).toBeGreaterThanOrEqual(400);
    expect(responses[0]!.status, path).toBeLessThan(500);
  }
});

describe('a Content-Length over the limit is refused before the body arrives', () => {
  const LENGTH = 'Content-Length: 9000000000\r\n';

  test.each(routes)('%s', async (path, type) => {
    const exchange = await sendRaw(api.baseUrl, head(path, type, LENGTH));
    expect(exchange.responses.map(({ status }) => status)).toEqual([path === '/no-such-page' ? 404 : 413]);
    expect(exchange.milliseconds).toBeLessThan(5_000);
  });

  test.each(routes)('%s, without a 100 Continue', async (path, type) => {
    const received = await sendPieces([head(path, type, `${LENGTH}Expect: 100-continue\r\n`)]);
    expect(received).toMatch(path === '/no-such-page' ? /^HTTP\/1\.1 404 / : /^HTTP\/1\.1 413 /);
  });
});

describe('the sizes of chunks', () => {
  const bodies = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 6 });

  test('are parsed wherever a body is cut', () => {
    fc.assert(
      fc.property(bodies, fc.boolean(), fc.array(fc.nat(400), { maxLength: 5 }), (chunks, exceeds, cuts) => {
        const last = exceeds ? '29;x=y\r\n' : '0\r\n\r\n';
        const coded = chunks.map((chunk) => [
          Buffer.from(`${chunk.length.toString(16)}\r\n`),
          chunk,
          Buffer.from('\r\n'),
        ]);
        const body = Buffer.concat([...coded.flat(), Buffer.from(last)]);
        const sizes = new ChunkSizes(40);
        const places = [...cuts].sort((a, b) => a - b);
        const pieces = [0, ...places].map((from, index) => body.subarray(from, places[index] ?? body.length));
        expect(pieces.some((piece) => sizes.exceeds(piece))).toBe(exceeds);
        expect(sizes.isDone).toBe(!exceeds);
      }),
    );
  });
});
