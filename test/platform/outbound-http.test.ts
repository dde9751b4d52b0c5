import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { isPublicAddress } from '../../src/platform/address.ts';
import { createOutboundHttp, OutboundFault } from '../../src/platform/outbound-http/index.ts';
import { makeCertificate } from '../conformance/support/certificate.ts';

const LOOPBACK = ['127.0.0.0/8'];
const signal = new AbortController().signal;
const request = { headers: { 'content-type': 'application/json' }, body: '{}', signal };

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  afterAll(() => {
    if ('closeAllConnections' in server) (server as { closeAllConnections(): void }).closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

let requests = 0;
afterEach(() => void (requests = 0));

async function serve(listener: RequestListener = (_, response) => response.end('ok')): Promise<number> {
  return listen(
    createServer((incoming, response) => {
      requests += 1;
      listener(incoming, response);
    }),
  );
}

const at = (...addresses: string[]): readonly LookupAddress[] =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

const PRIVATE = [
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '192.0.0.8',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:a9fe:a9fe',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  'fc00::1',
  'fd12:3456:789a::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  '4000::1',
];
const PUBLIC = ['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8'];

describe('addresses', () => {
  test.each(PRIVATE)('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false));
  test.each(PUBLIC)('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));
  test.each(['', 'localhost', '1.2.3', '1.2.3.4/8'])('%j is not public', (text) =>
    expect(isPublicAddress(text)).toBe(false),
  );
});

describe('a literal address', () => {
  const outbound = createOutboundHttp({ networks: [] });
  const hosts = PRIVATE.map((address) => (address.includes(':') ? `[${address}]` : address));

  test.each([
    ...hosts,
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '0x7f.0.0.1',
    '１２７.0.0.1',
    '127.0.0.1.',
    '[::ffff:7f00:1]',
  ])('%s is refused, before and at the request', async (host) => {
    const url = `http://${host}:9999/`;
    expect(outbound.fault(url)).toBe('must not be a private, local or reserved address');
    await expect(outbound.post(url, request)).rejects.toThrow(OutboundFault);
  });

  test.each([
    ['ftp://example.com/', 'must be an http or https URL'],
    ['file:///etc/passwd', 'must be an http or https URL'],
    ['http://', 'must be an http or https URL'],
    ['http://user@example.com/', 'must not hold credentials'],
    ['http://user:password@example.com/', 'must not hold credentials'],
    ['http://example.com:22/', 'must have port 80, 443 or one above 1023'],
    ['https://example.com:25/', 'must have port 80, 443 or one above 1023'],
    ['http://example.com:80/', undefined],
    ['http://example.com:443/', undefined],
    ['https://example.com:8443/hook?key=1', undefined],
    ['https://[2606:4700::1111]/', undefined],
  ])('%s', (url, fault) => expect(outbound.fault(url)).toBe(fault));

  test('is reachable in a configured network, and nowhere else', async () => {
    const port = await serve();
    const allowed = createOutboundHttp({ networks: ['127.0.0.1/32', 'fd00::/8'] });
    const { status, text } = await allowed.post(`http://127.0.0.1:${port}/`, request);
    expect({ status, text }).toEqual({ status: 200, text: 'ok' });
    expect((await allowed.post(`http://[::ffff:127.0.0.1]:${port}/`, request)).status).toBe(200);
    await expect(allowed.post(`http://127.0.0.2:${port}/`, request)).rejects.toThrow(OutboundFault);
    expect(requests).toBe(2);
  });
});

describe('a name', () => {
  test.each(PRIVATE)('that resolves to %s is refused', async (address) => {
    const port = await serve();
    const outbound = createOutboundHttp({ networks: [], resolve: async () => at(address) });
    await expect(outbound.post(`http://hooks.example:${port}/`, request)).rejects.toThrow(
      'The host has a private, local or reserved address.',
    );
    expect(requests).toBe(0);
  });

  test('that resolves to a public and a private address is refused', async () => {
    const port = await serve();
    const outbound = createOutboundHttp({ networks: [], resolve: async () => at('8.8.8.8', '127.0.0.1') });
    await expect(outbound.post(`http://hooks.example:${port}/`, request)).rejects.toThrow(OutboundFault);
    expect(requests).toBe(0);
  });

  test('is resolved once for a connection, which uses the checked address', async () => {
    const port = await serve();
    const responses = ['127.0.0.1', '127.0.0.2', '10.0.0.1'];
    let requested = 0;
    const resolve = async () => at(responses[requested++]!);
    const outbound = createOutboundHttp({ networks: ['127.0.0.1/32'], resolve });
    expect((await outbound.post(`http://hooks.example:${port}/`, request)).status).toBe(200);
    outbound.close();
    // DNS rebinding: the second address is checked again.
    await expect(outbound.post(`http://hooks.example:${port}/`, request)).rejects.toThrow(OutboundFault);
    await expect(outbound.post(`http://hooks.example:${port}/`, request)).rejects.toThrow(OutboundFault);
    expect({ requested, requests }).toEqual({ requested: 3, requests: 1 });
  });

  test.each([
    ['ENOTFOUND', 'The host name does not exist.'],
    ['ENODATA', 'The host name has no address.'],
    ['ETIMEOUT', 'The host name could not be resolved.'],
  ])('that fails with %s', async (code, words) => {
    const resolve = () => Promise.reject(Object.assign(new Error('no'), { code }));
    const outbound = createOutboundHttp({ networks: [], resolve });
    await expect(outbound.post('http://hooks.example/', request)).rejects.toThrow(words);
  });

  test('whose name server does not respond fails in time', async () => {
    const outbound = createOutboundHttp({
      networks: [],
      resolve: () => new Promise(() => {}),
      timeoutMs: 100,
    });
    await expect(outbound.post('http://hooks.example/', request)).rejects.toThrow(
      'No response came within 0.1 s.',
    );
  });
});

describe('a response', () => {
  const post = async (listener: RequestListener, timeoutMs?: number) => {
    const port = await serve(listener);
    const outbound = createOutboundHttp({ networks: LOOPBACK, ...(timeoutMs && { timeoutMs }) });
    return outbound.post(`http://127.0.0.1:${port}/`, request);
  };

  test('that redirects is returned and not followed', async () => {
    let reached = 0;
    const target = await serve((_, response) => {
      reached += 1;
      response.end();
    });
    for (const status of [301, 302, 303, 307, 308]) {
      const result = await post((_, response) =>
        response.writeHead(status, { location: `http://127.0.0.1:${target}/` }).end(),
      );
      expect(result.status).toBe(status);
    }
    expect(reached).toBe(0);
  });

  test('is read up to 1 KiB', async () => {
    const { text } = await post((_, response) => response.end('a'.repeat(10_000_000)));
    expect(text).toBe('a'.repeat(1024));
  });

  test('whose body arrives too slowly is cut off, and its status is returned', async () => {
    const result = await post((_, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('a'), 10);
      response.on('close', () => clearInterval(drip));
    }, 200);
    expect(result.status).toBe(200);
    expect(result.text).toMatch(/^a+$/);
  });

  test('that never arrives', async () => {
    await expect(post(() => {}, 200)).rejects.toThrow('No response came within 0.2 s.');
  });

  test('whose headers arrive too slowly', async () => {
    const port = await listen(
      createTcpServer((socket) => {
        socket.on('error', () => {});
        socket.write('HTTP/1.1 200 OK\r\n');
        const drip = setInterval(() => socket.write('a: b\r\n'), 10);
        socket.on('close', () => clearInterval(drip));
      }),
    );
    const outbound = createOutboundHttp({ networks: LOOPBACK, timeoutMs: 200 });
    await expect(outbound.post(`http://127.0.0.1:${port}/`, request)).rejects.toThrow('No response came');
  });

  test.each([
    ['SSH-2.0-OpenSSH\r\n', 'The response is not HTTP.'],
    ['', 'The connection was reset.'],
    [
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
      'The connection ended without a response.',
    ],
  ])('of %j', async (text, words) => {
    const port = await listen(createTcpServer((socket) => socket.on('error', () => {}).end(text)));
    const outbound = createOutboundHttp({ networks: LOOPBACK });
    await expect(outbound.post(`http://127.0.0.1:${port}/`, request)).rejects.toThrow(words);
  });

  test('over TLS requires a certificate of a trusted authority', async () => {
    const port = await listen(createTlsServer(makeCertificate(), (_, response) => response.end()));
    const outbound = createOutboundHttp({ networks: LOOPBACK });
    await expect(outbound.post(`https://127.0.0.1:${port}/`, request)).rejects.toThrow(/certificate/i);
  });

  test('is not waited for after the caller’s signal', async () => {
    const port = await serve(() => {});
    const outbound = createOutboundHttp({ networks: LOOPBACK });
    const ending = new AbortController();
    const sent = outbound.post(`http://127.0.0.1:${port}/`, { ...request, signal: ending.signal });
    await expect.poll(() => requests).toBe(1);
    ending.abort(new Error('the end'));
    await expect(sent).rejects.toThrow('the end');
  });
});

test('connections are reused, and a closed one fails no request', async () => {
  const ports = new Set<number>();
  const server = createServer((incoming, response) => {
    ports.add(incoming.socket.remotePort!);
    response.end('ok');
  });
  const port = await listen(server);
  const outbound = createOutboundHttp({ networks: LOOPBACK });
  const post = () => outbound.post(`http://127.0.0.1:${port}/`, request);
  for (let count = 0; count < 5; count += 1) expect((await post()).status).toBe(200);
  expect(ports.size).toBe(1);
  server.closeAllConnections();
  expect((await post()).status).toBe(200);
  outbound.close();
});

describe('a document', () => {
  test('is read up to the given size, with its headers and the same checks', async () => {
    const port = await serve((incoming, response) => {
      response.setHeader('cache-control', 'max-age=60').end(`${incoming.method} ${'x'.repeat(5000)}`);
    });
    const allowed = createOutboundHttp({ networks: LOOPBACK });
    const options = { headers: { accept: 'application/json' }, signal, maxBytes: 2000 };
    const { status, headers, bytes } = await allowed.get(`http://127.0.0.1:${port}/`, options);
    expect({ status, cached: headers['cache-control'], bytes: bytes.length }).toEqual({
      status: 200,
      cached: 'max-age=60',
      bytes: 2000,
    });
    expect(bytes.toString()).toMatch(/^GET x+$/);
    const guarded = createOutboundHttp({ networks: [] });
    await expect(guarded.get(`http://127.0.0.1:${port}/`, options)).rejects.toThrow(OutboundFault);
    expect(requests).toBe(1);
  });
});
