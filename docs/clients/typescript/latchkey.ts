// A client of Latchkey for Node 24 and later. Copy this file into your program; it needs no package.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/** A refusal: `code` is the service's, or one of the client's own (see README.md). */
export class LatchkeyError extends Error {
  readonly code: string;
  /** The body of the service's answer, where there was one. */
  readonly answer: JsonObject;

  constructor(code: string, message: string, answer: JsonObject = {}) {
    super(message);
    this.code = code;
    this.answer = answer;
  }
}

const hmac = (secret: string, text: string) =>
  createHmac('sha256', secret).update(text, 'utf8').digest('hex');

/**
 * The headers that sign a request.
 * @param body exactly as it will be sent, in UTF-8
 * @param timestamp Unix milliseconds
 */
export function signRequest(secret: string, body: string, timestamp: number | string) {
  return { 'x-signature': hmac(secret, body), 'x-timestamp': String(timestamp) };
}

/** The one JSON text that a value has under RFC 8785 (JCS). */
export function canonicalize(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalize).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    // JavaScript compares strings by UTF-16 code units, which is the order that JCS wants.
    const names = Object.keys(value).sort();
    return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalize(value[name]!)}`).join(',')}}`;
  }
  // 1e400 parses as Infinity, which would be written as null.
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('number out of range');
  return JSON.stringify(value);
}

/** The signature of a result. @param result without its `signature` */
export function signResponse(secret: string, nonce: string, result: JsonObject): string {
  return hmac(secret, `${nonce}.${canonicalize(result)}`);
}

/**
 * Checks an answer that carries a `signature`, and gives it back without.
 * @param nonce the one that was sent with the request
 * @throws LatchkeyError RESPONSE_SIGNATURE_INVALID when it is wrong or missing
 */
export function verifyResponse(secret: string, nonce: string, answer: JsonObject): JsonObject {
  const { signature, ...result } = answer;
  try {
    const given = Buffer.from(typeof signature === 'string' ? signature : '');
    const expected = Buffer.from(signResponse(secret, nonce, result));
    if (given.length === expected.length && timingSafeEqual(given, expected)) return result;
  } catch (error) {
    // What JCS cannot write, nobody has signed.
    if (!(error instanceof RangeError)) throw error;
  }
  throw new LatchkeyError('RESPONSE_SIGNATURE_INVALID', 'The answer is not from the service.', answer);
}

function parseObject(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as Json;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Told below, as for every other text that is no JSON object.
  }
  throw new LatchkeyError('UNEXPECTED_ANSWER', 'The answer is not a JSON object.');
}

export class Latchkey {
  readonly #base: string;
  readonly #appId: string;
  readonly #secret: string;
  /** By how many milliseconds the machine's clock is behind the service's. */
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

  /** @returns the user of the session; whatever is not valid throws */
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
    operation: string,
    fields: Record<string, string | undefined>,
    clockIsSet = false,
  ): Promise<JsonObject> {
    const nonce = randomBytes(16).toString('hex');
    const body = JSON.stringify({ app_id: this.#appId, ...fields, nonce });
    const response = await fetch(`${this.#base}/${operation}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...signRequest(this.#secret, body, Date.now() + this.#offset),
      },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(10_000),
    });
    const answer = parseObject(await response.text());
    if (response.ok) return verifyResponse(this.#secret, nonce, answer);
    const { code, detail, server_time: serverTime } = answer;
    if (code === 'TIMESTAMP_OUT_OF_RANGE' && typeof serverTime === 'string' && !clockIsSet) {
      this.#offset = Date.parse(serverTime) - Date.now();
      return this.#call(operation, fields, true);
    }
    if (typeof code !== 'string')
      throw new LatchkeyError('UNEXPECTED_ANSWER', `HTTP ${response.status}`, answer);
    throw new LatchkeyError(code, typeof detail === 'string' ? detail : code, answer);
  }
}

// What follows is the command line of the tests: leave it out of your program.

interface Vector {
  name: string;
  secret: string;
  timestamp: string;
  body: string;
  body_hex: string;
  x_signature: string;
  nonce: string;
  result: JsonObject;
  jcs: string;
  signature: string;
}

async function checkVectors(path: string): Promise<void> {
  const { vectors } = JSON.parse(await readFile(path, 'utf8')) as { vectors: Vector[] };
  for (const { name, secret, timestamp, body, nonce, result, ...expected } of vectors) {
    const headers = signRequest(secret, body, timestamp);
    const actual: typeof expected = {
      body_hex: Buffer.from(body, 'utf8').toString('hex'),
      x_signature: headers['x-signature'],
      jcs: canonicalize(result),
      signature: signResponse(secret, nonce, result),
    };
    for (const key of Object.keys(actual) as (keyof typeof actual)[]) {
      if (actual[key] !== expected[key]) throw new Error(`${name}: ${key} is ${actual[key]}`);
    }
    verifyResponse(secret, nonce, { ...result, signature: expected.signature });
  }
  if (vectors.length === 0) throw new Error('no vectors');
  console.log(`${vectors.length} vectors agree`);
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
  | demo-license <base_url> <app_id> <secret> <license_key> <hwid>`;

async function run(mode: string | undefined, args: string[]): Promise<void> {
  if (mode === 'vectors' && args.length === 1) return checkVectors(args[0]!);
  const [base = '', appId = '', secret = '', name = '', ...rest] = args;
  const latchkey = new Latchkey(base, appId, secret);
  const hwid = rest.at(-1) ?? '';
  if (mode === 'demo' && args.length === 6)
    return demo(latchkey, await latchkey.login(name, rest[0]!, hwid), hwid);
  if (mode === 'demo-license' && args.length === 5)
    return demo(latchkey, await latchkey.loginLicense(name, hwid), hwid);
  throw new Error(USAGE);
}

if (import.meta.main) {
  try {
    await run(process.argv[2], process.argv.slice(3));
  } catch (error) {
    console.error(error instanceof LatchkeyError ? `${error.code}: ${error.message}` : String(error));
    process.exitCode = 1;
  }
}
