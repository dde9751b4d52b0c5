import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import type { Clock } from '../../../src/platform/clock.ts';
import { atFileEnd } from '../../support/at-file-end.ts';
import { readForm } from './form.ts';
import { exampleOf } from './stripe-examples.ts';
import { respond, Refusal } from './stripe-routes.ts';
import { StripeWorld, type Thing } from './stripe-world.ts';

const PREVIEW = /^shared_payment_granted_token=/;

interface StripeResponse {
  readonly status: number;
  readonly body: Thing;
}

/** A received request, for tests that inspect requests. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly version: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly body: string;
}

/** The parts of Stripe that we use. */
export interface StripeServer {
  readonly url: string;
  readonly world: StripeWorld;
  readonly requests: RecordedRequest[];
  /** Set by a test: refuses requests that the mock accepts. */
  refuses: (method: string, path: string) => Refusal | undefined;
  /** Set by a test: requests get no response. */
  hangs: boolean;
}

/**
 * A Stripe with state: each request goes to Stripe's mock first, which checks it against the contract. The response is
 * the mock's example, changed to what Stripe would have stored. Ends with the calling test file.
 * @param mock undefined for none: requests are not checked, and the examples have only what we read
 */
export async function startStripeServer(mock: string | undefined, clock: Clock): Promise<StripeServer> {
  const headers = { authorization: 'Bearer sk_test_example' };
  const world = new StripeWorld(clock, async (path) => {
    if (mock === undefined) return exampleOf(path);
    const response = await fetch(`${mock}${path}`, { headers });
    return (await response.json()) as Thing;
  });
  const requests: RecordedRequest[] = [];
  const remembered = new Map<string, { readonly body: string; readonly response: Promise<StripeResponse> }>();

  /** The response of the mock. */
  async function exampleFor(request: IncomingMessage, target: string, body: string): Promise<StripeResponse> {
    if (mock === undefined) return { status: 200, body: exampleOf(target) };
    // The mock does not support previews.
    const known = body.split('&').filter((pair) => !PREVIEW.test(pair));
    const example = await fetch(`${mock}${target}`, {
      method: request.method!,
      headers: {
        authorization: request.headers.authorization!,
        'content-type': 'application/x-www-form-urlencoded',
      },
      ...(request.method === 'POST' && { body: known.join('&') }),
    });
    return { status: example.status, body: (await example.json()) as Thing };
  }

  async function carryOut(request: IncomingMessage, body: string): Promise<StripeResponse> {
    const { pathname, search } = new URL(request.url!, 'http://stripe');
    const example = await exampleFor(request, `${pathname}${search}`, body);
    if (example.status !== 200) return example;
    const given = example.body;
    const params = readForm(body || search.slice(1));
    const path = pathname.replace('/v1/', '');
    const refusal = stripe.refuses(request.method!, path);
    if (refusal) return { status: refusal.status, body: { error: refusal.error } };
    return respond(world, { method: request.method!, path, params, example: given }).then(
      (found) => ({ status: 200, body: found }),
      (error: unknown) => {
        if (error instanceof Refusal) return { status: error.status, body: { error: error.error } };
        throw error;
      },
    );
  }

  /** The same key gets the same response, unless the request differs. */
  async function respondOnce(request: IncomingMessage, body: string): Promise<StripeResponse> {
    const key = request.headers['idempotency-key'];
    if (typeof key !== 'string') return carryOut(request, body);
    const before = remembered.get(key);
    if (before && before.body !== body) {
      const message = 'Keys for idempotent requests can only be used with the same parameters.';
      return { status: 400, body: { error: { type: 'idempotency_error', message } } };
    }
    const received = before?.response ?? carryOut(request, body);
    remembered.set(key, { body, response: received });
    return received;
  }

  const server = createServer((request, response) => {
    void (async () => {
      const body = await textOf(request);
      const { headers } = request;
      requests.push({
        method: request.method!,
        path: request.url!,
        version: headers['stripe-version'] as string | undefined,
        idempotencyKey: headers['idempotency-key'] as string | undefined,
        body,
      });
      if (stripe.hangs) return;
      const given = await respondOnce(request, body);
      response.writeHead(given.status, {
        'content-type': 'application/json',
        date: clock.now().toUTCString(),
        'request-id': world.newId('req'),
      });
      response.end(JSON.stringify(given.body));
    })().catch((error: unknown) => response.destroy(error as Error));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atFileEnd(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stripe: StripeServer = { url, world, requests, refuses: () => undefined, hangs: false };
  return stripe;
}
