import type { LookupAddress } from 'node:dns';
import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { OutboundFault, outboundFault } from './outbound-fault.ts';
import { createReachable, hostOf } from './reachable.ts';
import { createResolver, type Resolve } from './resolver.ts';

export { OutboundFault } from './outbound-fault.ts';

const RESPONSE_TIMEOUT_MS = 15_000;
const READ_BYTES = 1024;
const IDLE_SOCKETS = 256;
/** Shorter than most servers keep an idle connection: theirs should not end under a request of ours. */
const IDLE_MS = 4_000;

export interface OutboundRequest extends Omit<OutboundGet, 'maxBytes'> {
  readonly body: string;
}

export interface OutboundResponse {
  readonly status: number;
  /** The header `Retry-After` as it was sent. */
  readonly retryAfter: string | undefined;
  /** The first KiB of the body as text; bytes that are no UTF-8 are replaced. */
  readonly text: string;
}

export interface OutboundGet {
  readonly headers: Readonly<Record<string, string>>;
  /** Ends it; then the promise rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** How much of the body is read. */
  readonly maxBytes: number;
}

export interface OutboundDocument {
  readonly status: number;
  readonly headers: Readonly<http.IncomingHttpHeaders>;
  /** The first `maxBytes` of the body. */
  readonly bytes: Buffer;
}

/**
 * HTTP requests to URLs that others have chosen (RFC 9110). It connects only to public addresses and to those that the
 * configuration names. The check applies to the very address of the connection, so that a name that later resolves to
 * another address cannot bypass it. Redirects are not followed, and no proxy is used.
 */
export interface OutboundHttp {
  /** What is wrong with a URL before name resolution, in words that complete "the URL …"; undefined if nothing is. */
  fault(url: string): string | undefined;
  /**
   * Sends a POST.
   * @throws OutboundFault if there is no response within 15 s, or the address is not allowed
   */
  post(url: string, request: OutboundRequest): Promise<OutboundResponse>;
  /**
   * Sends a GET.
   * @throws OutboundFault like `post`
   */
  get(url: string, question: OutboundGet): Promise<OutboundDocument>;
  /** Ends idle connections. */
  close(): void;
}

/** A request of either method. */
interface Sent {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
}

/**
 * @param options.networks allowed networks that are not public, in CIDR form
 * @param options.resolve resolves a name into addresses; by default with the machine's name servers
 * @param options.timeoutMs 15 s by default
 */
export function createOutboundHttp(options: {
  readonly networks: readonly string[];
  readonly resolve?: Resolve;
  readonly timeoutMs?: number;
}): OutboundHttp {
  const { networks, resolve = createResolver(), timeoutMs = RESPONSE_TIMEOUT_MS } = options;
  const reachable = createReachable(networks);
  const lookup = guardedLookup(resolve, reachable.address);
  const pooling = { keepAlive: true, maxFreeSockets: IDLE_SOCKETS, timeout: IDLE_MS };
  const agents = { 'http:': new http.Agent(pooling), 'https:': new https.Agent(pooling) };

  async function send(url: URL, request: Sent, fresh: boolean): Promise<OutboundDocument> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const secure = url.protocol === 'https:';
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const sent = (secure ? https : http).request(url, {
      method: request.method,
      headers: request.headers,
      agent: fresh ? new (secure ? https : http).Agent() : agents[url.protocol as keyof typeof agents],
      lookup,
      signal: AbortSignal.any([timeout, request.signal]),
    });
    // A response that switches protocols emits neither of the two other events.
    sent.once('close', () => reject(new OutboundFault('The connection ended without a response.')));
    sent.once('response', resolve).on('error', reject).end(request.body);
    try {
      const response = await promise;
      const bytes = await firstBytes(response, request.maxBytes);
      request.signal.throwIfAborted();
      return { status: response.statusCode!, headers: response.headers, bytes };
    } catch (error) {
      request.signal.throwIfAborted();
      if (timeout.aborted) throw new OutboundFault(`No response came within ${timeoutMs / 1000} s.`);
      // The other side has ended an idle connection at the moment that we used it: it has not seen the request.
      if (
        !fresh &&
        sent.reusedSocket &&
        /^(ECONNRESET|EPIPE)$/.test((error as NodeJS.ErrnoException).code ?? '')
      ) {
        return send(url, request, true);
      }
      throw outboundFault(error) ?? error;
    }
  }

  async function reach(text: string, request: Sent): Promise<OutboundDocument> {
    const fault = reachable.fault(text);
    if (fault !== undefined) throw new OutboundFault(`The URL ${fault}.`);
    const url = new URL(text);
    const host = hostOf(url);
    // Addresses are not looked up: `fault` has judged them, and this must not depend on it.
    if (isIP(host) !== 0 && !reachable.address(host)) throw forbidden();
    return send(url, request, false);
  }

  return {
    fault: reachable.fault,

    async post(url, request) {
      const { status, headers, bytes } = await reach(url, {
        method: 'POST',
        ...request,
        maxBytes: READ_BYTES,
      });
      return { status, retryAfter: headers['retry-after'], text: bytes.toString() };
    },

    get: (url, question) => reach(url, { method: 'GET', ...question }),

    close() {
      agents['http:'].destroy();
      agents['https:'].destroy();
    },
  };
}

const forbidden = () => new OutboundFault('The host has a private, local or reserved address.');

/** The lookup of a socket before it connects: all addresses of a name, or an error if one of them is not allowed. */
function guardedLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  async function addressesOf(hostname: string): Promise<LookupAddress[]> {
    const addresses = await resolve(hostname);
    if (addresses.length === 0) throw new OutboundFault('The host name has no address.');
    if (!addresses.every(({ address }) => isAllowed(address))) throw forbidden();
    return [...addresses];
  }
  return (hostname, { all }, callback) => {
    addressesOf(hostname).then(
      (addresses) => {
        const [{ address, family }] = addresses as [LookupAddress];
        if (all) callback(null, addresses);
        else callback(null, address, family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}

/** A body that does not end in time, or is cut off, does not fail the request: its status is known. */
async function firstBytes(response: http.IncomingMessage, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      parts.push(part);
      size += part.length;
      if (size > maxBytes) break;
    }
  } catch {
    response.destroy();
  }
  return Buffer.concat(parts).subarray(0, maxBytes);
}
