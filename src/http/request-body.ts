import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { parse } from 'content-type';
import type { Operation } from 'openapi-backend';
import getRawBody from 'raw-body';
import { ApiError } from '../errors/api-error.ts';
import { excludingWait } from '../platform/request-scope.ts';
import type { Exchange } from './contract.ts';
import { takesKeys } from './idempotency.ts';
import { countHeader } from './request-fault.ts';
import { parseStrictForm } from './strict-form.ts';
import { parseJsonBody } from './strict-json.ts';
import { HELD_BYTES, STORED_BYTES, UploadPace } from './upload-pace.ts';

/** 128 KiB, where an operation names no other limit: enough for a list of executable hashes. */
export const BODY_LIMIT = 131_072;

/** A body as it came and as it reads. */
export interface JsonBody {
  readonly bytes: Buffer;
  /** Undefined when the request has none. */
  readonly value: unknown;
}

const NONE: JsonBody = { bytes: Buffer.alloc(0), value: undefined };

/**
 * Reads and parses the body of a request.
 * @param limit in bytes
 * @throws ApiError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON, MALFORMED_REQUEST
 */
export async function readJsonBody(request: IncomingMessage, limit: number = BODY_LIMIT): Promise<JsonBody> {
  const bytes = await readBytes(request, 'application/json', limit);
  return bytes.length === 0 ? NONE : { bytes, value: parseJsonBody(bytes) };
}

/** A form as it came and as it reads. */
export interface FormBody {
  readonly bytes: Buffer;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Reads and parses the form in the body of a request; a request without a body has no fields.
 * @param limit in bytes
 * @param mostFields how many fields it may have; 100 unless given
 * @throws ApiError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_REQUEST
 */
export async function readFormBody(
  request: IncomingMessage,
  limit: number,
  mostFields?: number,
): Promise<FormBody> {
  const bytes = await readBytes(request, 'application/x-www-form-urlencoded', limit);
  return { bytes, fields: parseStrictForm(bytes, mostFields) };
}

/** @returns none for a request without a body */
async function readBytes(request: IncomingMessage, mediaType: string, limit: number): Promise<Buffer> {
  const { headers } = request;
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) {
    return NONE.bytes;
  }
  assertMediaType(request, [mediaType]);
  try {
    const body = getRawBody(request, { length: headers['content-length'] ?? null, limit });
    // Most bodies come whole with the head, and nothing waits for the client.
    return await (request.complete ? body : excludingWait(body));
  } catch (error) {
    // Lets the rest of the body run off, so that the client gets to read the answer.
    request.resume();
    if ((error as { type?: string }).type === 'entity.too.large') {
      throw tooLarge(limit, error);
    }
    throw new ApiError('MALFORMED_REQUEST', { detail: 'The body broke off.', cause: error });
  }
}

/** What a body may have that is no JSON and whose operation names no other limit. */
const UPLOAD_LIMIT = 32 * 1024 * 1024;
const RUN_OFF_MS = 30_000;

/**
 * How large a body may be, in bytes.
 * @param operation the one that it is sent to; undefined for what is no operation
 */
export function bodyLimitOf(operation: Operation | undefined): number {
  if (!operation) return BODY_LIMIT;
  const { 'x-max-bytes': limit, requestBody } = operation as Operation & { readonly 'x-max-bytes'?: number };
  if (limit !== undefined) return limit;
  const { content = {} } = (requestBody ?? {}) as { readonly content?: object };
  return Object.keys(content).every((type) => type === 'application/json') ? BODY_LIMIT : UPLOAD_LIMIT;
}

/**
 * Opens the body of a request that is no JSON. Where the operation takes an `Idempotency-Key`, its work is one transaction,
 * for which the body is held whole; where one is sent, the body is read before it, because it is a part of what makes two
 * requests the same.
 * @param mediaTypes those that the operation takes
 * @param hold reads a body that is held; see HeldBodies
 * @param limit in bytes
 * @returns the body in parts, which fails with ApiError PAYLOAD_TOO_LARGE above the limit, MALFORMED_REQUEST when it breaks
 *   off, REQUEST_TIMEOUT when it does not get on, and what `hold` throws
 * @throws ApiError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE
 */
export async function openUpload(
  exchange: Exchange,
  mediaTypes: readonly string[],
  hold: (body: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>,
  limit: number = UPLOAD_LIMIT,
): Promise<AsyncIterable<Uint8Array>> {
  const { operation, request } = exchange;
  const { headers } = request;
  assertMediaType(request, mediaTypes);
  if (Number(headers['content-length'] ?? 0) > limit) {
    request.resume();
    throw tooLarge(limit);
  }
  if (!takesKeys(operation)) return limited(exchange, limit, new UploadPace(STORED_BYTES));
  const blocks = hold(limited(exchange, limit, new UploadPace(HELD_BYTES)));
  if (headers['idempotency-key'] === undefined) return blocks;
  const hash = createHash('sha256');
  const parts: Uint8Array[] = [];
  for await (const block of blocks) {
    hash.update(block);
    parts.push(block);
  }
  exchange.bytes = hash.digest();
  return Readable.from(parts);
}

const underWay = new WeakSet<IncomingMessage>();

/** Whether the body of a request is being read as an upload, which has a limit of time of its own. */
export function isUploading(request: IncomingMessage): boolean {
  return underWay.has(request);
}

async function* limited(
  { request, answerHeaders }: Exchange,
  limit: number,
  pace: UploadPace,
): AsyncGenerator<Uint8Array> {
  let received = 0;
  const parts = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>;
  const nextPart = () =>
    parts.next().catch((cause: unknown) => {
      throw new ApiError('MALFORMED_REQUEST', { detail: 'The body broke off.', cause });
    });
  underWay.add(request);
  try {
    for (;;) {
      const { done, value } = await excludingWait(pace.next(nextPart()));
      if (done) return;
      received += value.length;
      if (received > limit) throw tooLarge(limit);
      yield value;
    }
  } catch (error) {
    // Nothing else will come over this connection either.
    if (error instanceof ApiError && error.code === 'REQUEST_TIMEOUT') answerHeaders['Connection'] = 'close';
    throw error;
  } finally {
    underWay.delete(request);
    // Not waited for: it ends after the part that has not come.
    runOff(request, parts.return?.());
  }
}

/**
 * Lets the rest of a body run off for a while, so that the client gets to read the answer, and the next one over the same
 * connection.
 * @param released when nobody else reads it any more: until then it would not flow
 */
function runOff(request: IncomingMessage, released: Promise<unknown> | undefined): void {
  const resume = () => void request.resume();
  Promise.resolve(released).then(resume, resume);
  if (request.complete) return;
  const timer = setTimeout(() => request.destroy(), RUN_OFF_MS).unref();
  request.once('close', () => clearTimeout(timer));
}

/** The error for a body over its limit. */
export function tooLarge(limit: number, cause?: unknown): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', { detail: `The body is larger than ${limit} bytes.`, cause });
}

/** The media type of a body, without parameters, as the contract writes it. */
export function mediaTypeOf({ headers }: IncomingMessage): string {
  return parse(headers['content-type'] ?? '').type;
}

function assertMediaType(request: IncomingMessage, mediaTypes: readonly string[]): void {
  const { 'content-type': contentType = '', 'content-encoding': contentEncoding } = request.headers;
  const { type, parameters } = parse(contentType);
  if (!mediaTypes.includes(type)) throw unsupported(`The Content-Type must be ${mediaTypes.join(' or ')}.`);
  const { charset = 'utf-8' } = parameters;
  if (charset.toLowerCase() !== 'utf-8') throw unsupported('The charset must be utf-8.');
  const quotes = contentType.split('"').length - 1;
  const charsets = contentType.toLowerCase().split('charset').length - 1;
  if (countHeader(request, 'content-type') > 1 || charsets > 1 || quotes % 2 === 1) {
    throw unsupported('The Content-Type can be read in two ways.');
  }
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    throw unsupported('The body must not have a content encoding.');
  }
}

function unsupported(detail: string): ApiError {
  return new ApiError('UNSUPPORTED_MEDIA_TYPE', { detail });
}
