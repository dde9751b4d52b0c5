import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { parse } from 'content-type';
import getRawBody from 'raw-body';
import { ApiError } from '../errors/api-error.ts';
import type { Exchange } from './contract.ts';
import { countHeader } from './request-fault.ts';
import { parseStrictJson } from './strict-json.ts';

/** 128 KiB: the largest body that any operation needs is a list of executable hashes. */
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
 * @throws ApiError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON, MALFORMED_REQUEST
 */
export async function readJsonBody(request: IncomingMessage): Promise<JsonBody> {
  const { headers } = request;
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return NONE;
  assertMediaType(request, ['application/json']);
  let bytes: Buffer;
  try {
    bytes = await getRawBody(request, { length: headers['content-length'] ?? null, limit: BODY_LIMIT });
  } catch (error) {
    // Lets the rest of the body run off, so that the client gets to read the answer.
    request.resume();
    if ((error as { type?: string }).type === 'entity.too.large') {
      throw tooLarge(BODY_LIMIT, error);
    }
    throw new ApiError('MALFORMED_REQUEST', { detail: 'The body broke off.', cause: error });
  }
  return bytes.length === 0 ? NONE : { bytes, value: parseStrictJson(bytes) };
}

/** What a body may have that is no JSON and whose operation names no other limit. */
const UPLOAD_LIMIT = 32 * 1024 * 1024;

/**
 * Opens the body of a request that is no JSON. With an `Idempotency-Key` it is read whole, because it is a part of what
 * makes two requests the same.
 * @param mediaTypes those that the operation takes
 * @param limit in bytes
 * @returns the body in parts, which fails with ApiError PAYLOAD_TOO_LARGE above the limit and MALFORMED_REQUEST when it
 *   breaks off
 * @throws ApiError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE
 */
export async function openUpload(
  exchange: Exchange,
  mediaTypes: readonly string[],
  limit: number = UPLOAD_LIMIT,
): Promise<AsyncIterable<Uint8Array>> {
  const { request } = exchange;
  const { headers } = request;
  assertMediaType(request, mediaTypes);
  if (Number(headers['content-length'] ?? 0) > limit) {
    request.resume();
    throw tooLarge(limit);
  }
  const upload = limited(request, limit);
  if (headers['idempotency-key'] === undefined) return upload;
  const parts: Uint8Array[] = [];
  for await (const part of upload) parts.push(part);
  exchange.bytes = Buffer.concat(parts);
  return Readable.from([exchange.bytes]);
}

async function* limited(request: IncomingMessage, limit: number): AsyncGenerator<Uint8Array> {
  let received = 0;
  const parts = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  try {
    for (;;) {
      const { done, value } = await parts.next().catch((cause: unknown) => {
        throw new ApiError('MALFORMED_REQUEST', { detail: 'The body broke off.', cause });
      });
      if (done) return;
      received += value.length;
      if (received > limit) throw tooLarge(limit);
      yield value;
    }
  } finally {
    await parts.return?.();
    // Lets the rest of the body run off, so that the client gets to read the answer.
    request.resume();
  }
}

function tooLarge(limit: number, cause?: unknown): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', { detail: `The body is larger than ${limit} bytes.`, cause });
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
