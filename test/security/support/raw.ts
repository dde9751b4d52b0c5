import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { expectContract } from '../../support/exchange.ts';

/** A response as received. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface RawExchange {
  /** Complete responses in order, without 1xx. */
  readonly responses: readonly RawResponse[];
  /** What was received after the last complete response. */
  readonly rest: string;
  readonly milliseconds: number;
}

/**
 * Sends bytes that no HTTP client would send.
 * @param wanted returns after so many complete responses, when the server closes, or after 10 s
 * @param options.bodiless the responses have no body, like those to HEAD
 */
export async function sendRaw(
  baseUrl: string,
  bytes: string | Uint8Array,
  wanted = 1,
  { bodiless = false }: { bodiless?: boolean } = {},
): Promise<RawExchange> {
  const { hostname, port } = new URL(baseUrl);
  const started = performance.now();
  const socket = connect(Number(port), hostname);
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, 10_000);
  let received = '';
  socket.on('data', (data: Buffer) => {
    received += data.toString('latin1');
    if (parse(received, bodiless).responses.length >= wanted) resolve();
  });
  socket.on('error', () => resolve());
  socket.on('close', () => resolve());
  socket.write(bytes);
  await promise;
  clearTimeout(timer);
  socket.destroy();
  return { ...parse(received, bodiless), milliseconds: performance.now() - started };
}

/** A connection whose client does not close its side by itself. */
export interface RawConnection {
  readonly socket: Socket;
  readonly received: () => string;
  /** Complete responses so far in order, without 1xx. */
  readonly responses: () => readonly RawResponse[];
  /** The statuses of the responses so far, in order. */
  readonly statuses: () => number[];
  /** The error that ended the connection. */
  readonly broken: () => Error | undefined;
}

/** Opens a connection, which is closed at the end of the test. */
export async function openRaw(baseUrl: string): Promise<RawConnection> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
  onTestFinished(() => void socket.destroy());
  let text = '';
  let broken: Error | undefined;
  socket.on('data', (data: Buffer) => (text += data.toString('latin1')));
  socket.on('error', (error) => (broken = error));
  await once(socket, 'connect');
  const statuses = () => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
  const responses = () => parse(text, false).responses;
  return { socket, received: () => text, responses, statuses, broken: () => broken };
}

function parse(received: string, bodiless: boolean): Pick<RawExchange, 'responses' | 'rest'> {
  const responses: RawResponse[] = [];
  let rest = received;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return { responses, rest };
    const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]));
    const length = bodiless || status < 200 ? 0 : Number(headers.get('content-length') ?? 0);
    const bodyStart = end + 4;
    if (rest.length < bodyStart + length) return { responses, rest };
    const text = Buffer.from(rest.slice(bodyStart, bodyStart + length), 'latin1').toString('utf8');
    if (status >= 200) responses.push({ status, headers, text });
    rest = rest.slice(bodyStart + length);
  }
}

/** Expects a valid refusal: 4xx with problem details, at once. */
export function expectRefusal(exchange: RawExchange, method: string, path: string): RawResponse {
  const [response] = exchange.responses;
  expect(response, `no response, only ${JSON.stringify(exchange.rest)}`).toBeDefined();
  expect(response!.status).toBeGreaterThanOrEqual(400);
  expect(response!.status).toBeLessThan(500);
  expect(response!.headers.get('content-type')).toBe('application/problem+json');
  expectContract({ method, path, ...response! });
  expect(exchange.milliseconds).toBeLessThan(5_000);
  return response!;
}
