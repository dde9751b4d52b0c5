import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import canonicalize from 'canonicalize';
import { onTestFinished } from 'vitest';

type Body = Record<string, unknown>;

/** A request as it came. */
export interface Call {
  readonly operation: string;
  readonly body: Body;
  readonly timestamp: number;
  /** Whether `x-signature` is that of the bytes. */
  readonly signed: boolean;
}

export interface Answer {
  readonly status: number;
  /** An object is sent as JSON, a string as it is. */
  readonly body: Body | string;
  readonly headers?: Record<string, string>;
}

export interface StandIn {
  readonly baseUrl: string;
  /** Everything that was asked so far. */
  readonly calls: readonly Call[];
}

export const APP = { app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c', secret: 'sk_the-secret-of-the-stand-in' };
export const SESSION = 'eyJhbGciOiJkaXIifQ..the-token-of-a-session';

/** `result` with its signature for a nonce. */
export function signed(result: Body, nonce: unknown, secret = APP.secret): Body & { signature: string } {
  const text = `${nonce}.${canonicalize(result)}`;
  return { ...result, signature: createHmac('sha256', secret).update(text).digest('hex') };
}

/** The answer to a call, before a test changes it: any name and password are right, and logout ends the session. */
function answerTo({ operation, body }: Call, ended: boolean): Answer {
  const problem = { status: 401, body: { code: 'SESSION_INVALID', detail: 'There is no such session.' } };
  if (operation === 'logout') return { status: 200, body: { status: 'success', message: 'Logged out.' } };
  if (operation !== 'verify-session') {
    return {
      status: 200,
      body: { status: 'success', token: SESSION, expires_at: '2026-11-22T10:00:00.000Z' },
    };
  }
  if (ended || body['token'] !== SESSION) return problem;
  const user = { user_id: 'usr_1', username: 'Zoë 😀', expiry: '2026-11-22T10:00:00.000Z' };
  return { status: 200, body: { status: 'success', valid: true, ...user } };
}

/**
 * Stands in for a service, on the loopback, so that answers can be wrong in every way. It takes every request and only
 * notes what is wrong with it. It stops at the end of the test.
 * @param change makes the answer to send from a call and the answer that it should have, which is signed
 * @param identity its key and certificate, both PEM: it then speaks TLS
 */
export async function startStandIn(
  change: (answer: Answer, call: Call, calls: readonly Call[]) => Answer = (answer) => answer,
  identity?: { readonly key: string; readonly cert: string },
): Promise<StandIn> {
  const calls: Call[] = [];
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    const expected = createHmac('sha256', APP.secret).update(raw).digest('hex');
    const call = {
      operation: request.url!.replace('/api/v2/client/', ''),
      body: JSON.parse(raw.toString('utf8')) as Body,
      timestamp: Number(request.headers['x-timestamp']),
      signed: request.headers['x-signature'] === expected,
    };
    const ended = calls.some(({ operation }) => operation === 'logout');
    calls.push(call);
    const right = answerTo(call, ended);
    const body = right.status === 200 ? signed(right.body as Body, call.body['nonce']) : right.body;
    const answer = change({ ...right, body }, call, calls);
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(text);
  };
  const server = identity ? createTlsServer(identity, listener) : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: identity ? `https://localhost:${port}` : `http://127.0.0.1:${port}`, calls };
}
