import { Agent, request } from 'node:http';
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expectContract } from '../support/exchange.ts';
import { sign, type Credentials, type V2Operation } from './signed.ts';

export interface LightResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
  /** The code of an error, undefined for a success. */
  readonly code: string | undefined;
  readonly ms: number;
}

/** Options of a request besides its body. */
export interface LightOptions {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The loopback address that it comes from. */
  readonly from?: string;
}

/** Responses of one kind (operation, status and code) that are checked against the contract. */
const CHECKED_A_KIND = 25;

/**
 * Calls one process of the service, cheaply enough for ten thousand requests: over kept connections, and only the first
 * responses of each kind are checked against the contract.
 */
export class LightClient {
  readonly baseUrl: string;
  readonly #agent: Agent;
  readonly #checked = new Map<string, number>();

  /** @param maxSockets more requests wait in the client, and their waiting time counts */
  constructor(baseUrl: string, maxSockets = 64) {
    this.baseUrl = baseUrl;
    this.#agent = new Agent({ keepAlive: true, maxSockets });
  }

  /**
   * @param body an object is sent as JSON, a string unchanged
   * @param more a bearer token, or other headers of the request
   * @throws the error of the connection
   */
  call(
    method: string,
    path: string,
    body?: unknown,
    more: string | LightOptions = {},
  ): Promise<LightResponse> {
    const { token, headers: others, from } = typeof more === 'string' ? { token: more } : more;
    const began = performance.now();
    const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const headers = {
      ...(payload !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(payload)),
      }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...others,
    };
    const options = {
      method,
      agent: this.#agent,
      headers,
      ...(from !== undefined && { localAddress: from }),
    };
    const { promise, resolve, reject } = Promise.withResolvers<LightResponse>();
    const sent = request(this.baseUrl + path, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.once('error', reject).once('end', () => {
        try {
          const status = response.statusCode!;
          const parsed = JSON.parse(text) as Record<string, unknown>;
          const code = status >= 400 ? String(parsed['code']) : undefined;
          const responseHeaders = new Headers(response.headers as Record<string, string>);
          this.#check({ method, path, status, headers: responseHeaders, text }, code);
          resolve({
            status,
            headers: responseHeaders,
            body: parsed,
            code,
            ms: performance.now() - began,
          });
        } catch (error) {
          reject(error as Error);
        }
      });
    });
    sent.once('error', reject).end(payload);
    return promise;
  }

  post = (path: string, body: unknown, more?: string | LightOptions): Promise<LightResponse> =>
    this.call('POST', path, body, more);
  /** Sends a request to the client interface of v2, signed with the application's secret. */
  signed = (
    operation: V2Operation,
    app: Credentials,
    body: object,
    more: LightOptions = {},
  ): Promise<LightResponse> => {
    const { text, headers } = sign(app, body);
    return this.post(`/api/v2/client/${operation}`, text, {
      ...more,
      headers: { ...headers, ...more.headers },
    });
  };
  register = (body: object): Promise<LightResponse> => this.post('/api/v1/client/register', body);
  login = (body: object): Promise<LightResponse> => this.post('/api/v1/client/login', body);
  verify = (body: object): Promise<LightResponse> => this.post('/api/v1/client/verify-session', body);
  activate = (body: object): Promise<LightResponse> => this.post('/api/v1/client/activate', body);
  logout = (body: object): Promise<LightResponse> => this.post('/api/v1/client/logout', body);

  #check(exchange: Parameters<typeof expectContract>[0], code: string | undefined): void {
    const kind = `${exchange.method} ${exchange.path} ${exchange.status} ${code}`;
    const times = this.#checked.get(kind) ?? 0;
    this.#checked.set(kind, times + 1);
    if (times < CHECKED_A_KIND) expectContract(exchange);
  }
}

/** Repeats requests that the service was too busy for (503), which had no effect, for up to 25 seconds. */
export class PatientClient extends LightClient {
  override async call(...args: Parameters<LightClient['call']>): Promise<LightResponse> {
    return withRetries(() => super.call(...args), [503]);
  }
}

/** Repeats requests while the service is too busy (429, 503), for up to 25 seconds. */
export function patiently(send: () => Promise<LightResponse>): Promise<LightResponse> {
  return withRetries(send, [429, 503]);
}

async function withRetries(
  send: () => Promise<LightResponse>,
  busy: readonly number[],
): Promise<LightResponse> {
  const deadline = Date.now() + 25_000;
  for (;;) {
    const response = await send();
    if (!busy.includes(response.status) || Date.now() > deadline) return response;
    await delay(randomInt(30, 120));
  }
}

/** How many responses there are of each status and code: `{ 200: 1, '400 LICENSE_ALREADY_USED': 49 }`. */
export function tally(responses: readonly LightResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, code } of responses) {
    const kind = code === undefined ? String(status) : `${status} ${code}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** A copy in random order. */
export function shuffled<Item>(items: readonly Item[]): Item[] {
  const result = [...items];
  for (let i = result.length - 1; i > 0; i -= 1) {
    const j = randomInt(i + 1);
    [result[i], result[j]] = [result[j]!, result[i]!];
  }
  return result;
}

/** The time within which a share of the responses arrived, such as 0.99. */
export function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
