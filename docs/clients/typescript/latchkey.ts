// A client of Latchkey for Node 24 and later. Copy this file into your program; it needs no package.
import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/** A refusal: `code` is the service's, or one of the client's own (see README.md). */
export class LatchkeyError extends Error {
  readonly code: string;
  /** The body of the response, where there was one. */
  readonly answer: JsonObject;
  /** Nothing was decided: the service was unreachable or overloaded. The call can be retried. */
  readonly undecided: boolean;
  /** `Retry-After` in seconds. It is not signed. */
  readonly retryAfter: number | undefined;

  constructor(
    code: string,
    message: string,
    answer: JsonObject = {},
    undecided = false,
    retryAfter?: number,
  ) {
    super(message);
    this.code = code;
    this.answer = answer;
    this.undecided = undecided;
    this.retryAfter = retryAfter;
  }
}

/** The last part of each call's path, and the operationId in its signatures. */
const OPERATIONS = {
  login: 'loginUserV2',
  'login-license': 'loginWithLicense',
  'verify-session': 'verifySessionV2',
  logout: 'logoutUserV2',
} as const;

/** A request, as the signatures of version 2 cover it. */
export interface Request {
  /** The operationId, such as `loginUserV2`. */
  operation: string;
  /** Exactly as it will be sent, in UTF-8. */
  body: string;
}

const hmac = (secret: string, ...lines: string[]) =>
  createHmac('sha256', secret).update(lines.join('\n'), 'utf8').digest('hex');
const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

/**
 * The headers that sign a request.
 * @param timestamp Unix milliseconds
 */
export function signRequest(secret: string, { operation, body }: Request, timestamp: number | string) {
  return {
    'x-signature-version': '2',
    'x-signature': hmac(secret, 'latchkey-request-v2', operation, String(timestamp), sha256(body)),
    'x-timestamp': String(timestamp),
  };
}

/** The one JSON text that a value has under RFC 8785 (JCS). */
export function canonicalize(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalize).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    // JavaScript compares strings by UTF-16 code units, the order that JCS requires.
    const names = Object.keys(value).sort();
    return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalize(value[name]!)}`).join(',')}}`;
  }
  // 1e400 parses as Infinity, which would be written as null.
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('number out of range');
  return JSON.stringify(value);
}

/**
 * The signature of a result.
 * @param request the one that it responds to
 * @param nonce the one in the body of the request
 * @param result without its `signature`
 */
export function signResponse(secret: string, request: Request, nonce: string, result: JsonObject): string {
  const { operation, body } = request;
  return hmac(secret, 'latchkey-response-v2', operation, sha256(body), nonce, canonicalize(result));
}

/**
 * Checks the `signature` of a response and returns the response without it.
 * @param request the one that it responds to
 * @param nonce the one in the body of the request
 * @throws LatchkeyError RESPONSE_SIGNATURE_INVALID when it is wrong or missing
 */
export function verifyResponse(
  secret: string,
  request: Request,
  nonce: string,
  answer: JsonObject,
): JsonObject {
  const { signature, ...result } = answer;
  try {
    const given = Buffer.from(typeof signature === 'string' ? signature : '');
    const expected = Buffer.from(signResponse(secret, request, nonce, result));
    if (given.length === expected.length && timingSafeEqual(given, expected)) return result;
  } catch (error) {
    // The service signs nothing that JCS cannot write.
    if (!(error instanceof RangeError)) throw error;
  }
  throw new LatchkeyError('RESPONSE_SIGNATURE_INVALID', 'The response is not from the service.', answer);
}

function parseObject(text: string, otherwise?: () => JsonObject): JsonObject {
  try {
    const value = JSON.parse(text) as Json;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Reported below, like every other text that is not a JSON object.
  }
  if (otherwise) return otherwise();
  throw new LatchkeyError('UNEXPECTED_ANSWER', 'The response is not a JSON object.');
}

export class Latchkey {
  readonly #base: string;
  readonly #appId: string;
  readonly #secret: string;
  /** How many milliseconds the machine's clock is behind the service's. */
  #offset = 0;

  /** @param baseUrl such as `https://auth.example.com` */
  constructor(baseUrl: string, appId: string, secret: string) {
    this.#base = `${baseUrl.replace(/\/$/, '')}/api/v2/client`;
    this.#appId = appId;
    this.#secret = secret;
  }

  /** @returns `token` of the session and `expires_at` */
  login(username: string, password: string, hwid: string): Promise<JsonObject> {
    return this.#call('login', { username, password, hwid });
  }

  /** @returns `token` of the session and `expires_at` */
  loginLicense(licenseKey: string, hwid: string): Promise<JsonObject> {
    return this.#call('login-license', { license_key: licenseKey, hwid });
  }

  /** @returns the user of the session; throws when the session is not valid */
  async verifySession(token: string, hwid?: string): Promise<JsonObject> {
    const result = await this.#call('verify-session', { token, hwid });
    if (result['valid'] === true) return result;
    throw new LatchkeyError('SESSION_INVALID', 'The session is not valid.', result);
  }

  /** Ends the session. */
  logout(token: string): Promise<JsonObject> {
    return this.#call('logout', { session_token: token });
  }

  async #call(
    call: keyof typeof OPERATIONS,
    fields: Record<string, string | undefined>,
    correction?: number,
  ): Promise<JsonObject> {
    const nonce = randomBytes(16).toString('hex');
    const body = JSON.stringify({ app_id: this.#appId, ...fields, nonce });
    const request = { operation: OPERATIONS[call], body };
    const timestamp = Date.now() + (correction ?? this.#offset);
    const response = await this.#send(call, body, signRequest(this.#secret, request, timestamp));
    const { status, text } = response;
    if (status === 408 || status === 429 || status >= 500) {
      const answer = parseObject(text, () => ({}));
      const code = typeof answer['code'] === 'string' ? answer['code'] : 'UNEXPECTED_ANSWER';
      throw new LatchkeyError(code, `HTTP ${status}`, answer, true, response.retryAfter);
    }
    const answer = parseObject(text);
    if (status >= 200 && status < 300) {
      const result = verifyResponse(this.#secret, request, nonce, answer);
      // Only a signed response proves that the time was the service's.
      this.#offset = correction ?? this.#offset;
      return result;
    }
    const { code, detail, server_time: serverTime } = answer;
    if (code === 'TIMESTAMP_OUT_OF_RANGE' && typeof serverTime === 'string' && correction === undefined)
      return this.#call(call, fields, Date.parse(serverTime) - Date.now());
    if (typeof code !== 'string') throw new LatchkeyError('UNEXPECTED_ANSWER', `HTTP ${status}`, answer);
    throw new LatchkeyError(code, typeof detail === 'string' ? detail : code, answer);
  }

  async #send(call: string, body: string, headers: Record<string, string>) {
    try {
      const response = await fetch(`${this.#base}/${call}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(10_000),
      });
      const wait = response.headers.get('retry-after') ?? '';
      const retryAfter = /^\d{1,15}$/.test(wait) ? Number(wait) : undefined;
      return { status: response.status, text: await response.text(), retryAfter };
    } catch (error) {
      throw new LatchkeyError('UNREACHABLE', String(error), {}, true);
    }
  }
}

/** Whether a program may run, by the times of its successes in seconds of a monotonic clock. */
export class Grace {
  readonly #seconds: number;
  #succeededAt: number | undefined;
  #failures = 0;
  #ended = false;

  /** @param seconds how long the program may run after the last success; a day at most */
  constructor(seconds: number) {
    this.#seconds = Math.min(seconds, 86_400);
  }

  /** A signed success. */
  succeeded(now: number): void {
    this.#succeededAt = now;
    this.#failures = 0;
  }

  /**
   * Nothing was decided.
   * @param retryAfter `Retry-After` of the response; 300 seconds at most count
   * @returns seconds until the next attempt, 0 when the program may no longer run
   */
  unreachable(now: number, retryAfter?: number): number {
    this.#failures = Math.min(this.#failures + 1, 10);
    const wait = Math.min(retryAfter || 5 * 2 ** (this.#failures - 1), 300);
    return this.mayRun(now) ? Math.min(wait, this.#succeededAt! + this.#seconds - now) : 0;
  }

  /** A refusal, or a response that is not from the service: nothing revives the session afterwards. */
  refused(): void {
    this.#ended = true;
  }

  mayRun(now: number): boolean {
    return !this.#ended && this.#succeededAt !== undefined && now - this.#succeededAt < this.#seconds;
  }
}

/** Ties a program to its session. It may run after the first signed success, never before. */
export class Guard {
  readonly #latchkey: Latchkey;
  readonly #token: string;
  readonly #hwid: string;
  readonly #grace: Grace;

  /** @param graceSeconds how long the program continues while the service is unreachable */
  constructor(latchkey: Latchkey, token: string, hwid: string, graceSeconds = 1800) {
    this.#latchkey = latchkey;
    this.#token = token;
    this.#hwid = hwid;
    this.#grace = new Grace(graceSeconds);
  }

  /** Whether the program may run now. Check it before everything that you protect. */
  mayRun(): boolean {
    return this.#grace.mayRun(monotonicSeconds());
  }

  /**
   * Verifies the session: at the start, and again after the seconds that the last call returned.
   * @returns seconds until the next check: 5 to 15 minutes after a success, less while the service is unreachable
   * @throws LatchkeyError when the program may not start or continue
   */
  async check(): Promise<number> {
    try {
      // Taken before the request, so that a delayed response gains no time.
      const sentAt = monotonicSeconds();
      await this.#latchkey.verifySession(this.#token, this.#hwid);
      this.#grace.succeeded(sentAt);
      return randomInt(300, 901);
    } catch (error) {
      if (!(error instanceof LatchkeyError) || !error.undecided) {
        this.#grace.refused();
        throw error;
      }
      const wait = this.#grace.unreachable(monotonicSeconds(), error.retryAfter);
      if (wait === 0) throw error;
      return wait;
    }
  }
}

/** Unlike the system's clock, this one cannot be set back. */
function monotonicSeconds(): number {
  return performance.now() / 1000;
}

// What follows is the command line of the tests: leave it out of your program.

interface Vector {
  name: string;
  secret: string;
  operation: string;
  timestamp: string;
  body: string;
  body_hex: string;
  x_signature_v2: string;
  nonce: string;
  result: JsonObject;
  jcs: string;
  signature_v2: string;
}

interface GraceVector {
  name: string;
  grace_seconds: number;
  steps: { at: number; event: string; retry_after?: number; wait?: number; may_run: boolean }[];
}

async function checkVectors(path: string): Promise<void> {
  const { vectors, grace } = JSON.parse(await readFile(path, 'utf8')) as {
    vectors: Vector[];
    grace: GraceVector[];
  };
  for (const vector of vectors) {
    const { name, secret, operation, timestamp, body, nonce, result } = vector;
    const request = { operation, body };
    const headers = signRequest(secret, request, timestamp);
    const actual = {
      body_hex: Buffer.from(body, 'utf8').toString('hex'),
      x_signature_v2: headers['x-signature'],
      jcs: canonicalize(result),
      signature_v2: signResponse(secret, request, nonce, result),
    };
    for (const key of Object.keys(actual) as (keyof typeof actual)[]) {
      if (actual[key] !== vector[key]) throw new Error(`${name}: ${key} is ${actual[key]}`);
    }
    verifyResponse(secret, request, nonce, { ...result, signature: vector.signature_v2 });
  }
  for (const { name, grace_seconds, steps } of grace) {
    const tried = new Grace(grace_seconds);
    for (const { at, event, retry_after, wait, may_run } of steps) {
      if (event === 'success') tried.succeeded(at);
      if (event === 'refused') tried.refused();
      if (event === 'unreachable' && tried.unreachable(at, retry_after) !== wait)
        throw new Error(`${name}: wrong wait at ${at}`);
      if (tried.mayRun(at) !== may_run) throw new Error(`${name}: wrong may_run at ${at}`);
    }
  }
  if (vectors.length === 0 || grace.length === 0) throw new Error('no vectors');
  console.log(`${vectors.length} vectors agree`);
}

async function guard(latchkey: Latchkey, token: string, hwid: string, checks: number): Promise<void> {
  const guard = new Guard(latchkey, token, hwid);
  for (let check = 0; check <= checks; check += 1) {
    const wait = await guard.check();
    console.log(`${check === 0 ? 'started' : 'continues'}: next check in ${Math.ceil(wait)} s`);
  }
}

async function demo(latchkey: Latchkey, session: JsonObject, hwid: string): Promise<void> {
  console.log(`login: a session until ${session['expires_at']}`);
  const verified = await latchkey.verifySession(session['token'] as string, hwid);
  console.log(`verify-session: ${verified['user_id']} is logged in`);
  await latchkey.logout(session['token'] as string);
  console.log('logout: done');
  try {
    await latchkey.verifySession(session['token'] as string, hwid);
  } catch (error) {
    if (!(error instanceof LatchkeyError) || error.code !== 'SESSION_INVALID') throw error;
    console.log('verify-session: refused, SESSION_INVALID');
    return;
  }
  throw new Error('the session outlived its logout');
}

const USAGE = `vectors <file>
  | demo <base_url> <app_id> <secret> <username> <password> <hwid>
  | demo-license <base_url> <app_id> <secret> <license_key> <hwid>
  | guard <base_url> <app_id> <secret> <token> <hwid> <checks>`;

async function run(mode: string | undefined, args: string[]): Promise<void> {
  if (mode === 'vectors' && args.length === 1) return checkVectors(args[0]!);
  const [base = '', appId = '', secret = '', name = '', ...rest] = args;
  const latchkey = new Latchkey(base, appId, secret);
  const hwid = rest.at(-1) ?? '';
  if (mode === 'demo' && args.length === 6)
    return demo(latchkey, await latchkey.login(name, rest[0]!, hwid), hwid);
  if (mode === 'demo-license' && args.length === 5)
    return demo(latchkey, await latchkey.loginLicense(name, hwid), hwid);
  if (mode === 'guard' && args.length === 6) return guard(latchkey, name, rest[0]!, Number(rest[1]));
  throw new Error(USAGE);
}

/** @returns the exit code */
export async function main(mode?: string, ...args: string[]): Promise<number> {
  try {
    await run(mode, args);
    return 0;
  } catch (error) {
    console.error(error instanceof LatchkeyError ? `${error.code}: ${error.message}` : String(error));
    return 1;
  }
}

if (import.meta.main) process.exitCode = await main(...process.argv.slice(2));
