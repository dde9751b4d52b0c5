import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { boundRequestSignatureOf, boundSignatureOf } from '../../support/response-signature.ts';

type Body = Record<string, unknown>;

/** A request as received. */
export interface Call {
  readonly operation: string;
  readonly body: Body;
  /** The body as received. */
  readonly text: string;
  readonly timestamp: number;
  /** Whether `x-signature` is a valid version 2 signature. */
  readonly signed: boolean;
}

export interface StandInResponse {
  readonly status: number;
  /** An object is sent as JSON, a string unchanged. */
  readonly body: Body | string;
  readonly headers?: Record<string, string>;
}

export interface StandIn {
  readonly baseUrl: string;
  /** All requests so far. */
  readonly calls: readonly Call[];
}

export const APP = { app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c', secret: 'sk_the-secret-of-the-stand-in' };
export const SESSION = 'eyJhbGciOiJkaXIifQ..the-token-of-a-session';

const OPERATIONS: Readonly<Record<string, string>> = {
  login: 'loginUserV2',
  'login-license': 'loginWithLicense',
  'verify-session': 'verifySessionV2',
  logout: 'logoutUserV2',
};

/** `result` with its version 2 signature as the response to a call. */
export function signed(
  result: Body,
  { operation, text, body }: Pick<Call, 'operation' | 'text' | 'body'>,
  { nonce = String(body['nonce']), secret = APP.secret } = {},
): Body & { signature: string } {
  const bound = { operation: OPERATIONS[operation]!, body: text };
  return { ...result, signature: boundSignatureOf({ secret }, bound, nonce, result) };
}

/** The response to a call before a test changes it: every name and password is valid, and logout ends the session. */
function responseTo({ operation, body }: Call, ended: boolean): StandInResponse {
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
 * A stub of the service on a loopback address, to send wrong responses. It accepts every request and only records what
 * is wrong with it. It stops at the end of the test.
 * @param change returns the response for a call, given the correct, signed one
 * @param identity its key and certificate as PEM, to use TLS
 */
export async function startStandIn(
  change: (given: StandInResponse, call: Call, calls: readonly Call[]) => StandInResponse = (given) => given,
  identity?: { readonly key: string; readonly cert: string },
): Promise<StandIn> {
  const calls: Call[] = [];
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    const operation = request.url!.replace('/api/v2/client/', '');
    const text = raw.toString('utf8');
    const timestamp = String(request.headers['x-timestamp']);
    const bound = { operation: OPERATIONS[operation]!, body: text };
    const call = {
      operation,
      body: JSON.parse(text) as Body,
      text,
      timestamp: Number(timestamp),
      signed:
        request.headers['x-signature-version'] === '2' &&
        request.headers['x-signature'] === boundRequestSignatureOf(APP, bound, timestamp),
    };
    const ended = calls.some(({ operation }) => operation === 'logout');
    calls.push(call);
    const right = responseTo(call, ended);
    const body = right.status === 200 ? signed(right.body as Body, call) : right.body;
    const given = change({ ...right, body }, call, calls);
    const sent = typeof given.body === 'string' ? given.body : JSON.stringify(given.body);
    response.writeHead(given.status, { 'content-type': 'application/json', ...given.headers }).end(sent);
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
