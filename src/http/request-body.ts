import type { IncomingMessage } from 'node:http';
import { parse } from 'content-type';
import getRawBody from 'raw-body';
import { ApiError } from '../errors/api-error.ts';
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
  assertJson(request);
  let bytes: Buffer;
  try {
    bytes = await getRawBody(request, { length: headers['content-length'] ?? null, limit: BODY_LIMIT });
  } catch (error) {
    // Lets the rest of the body run off, so that the client gets to read the answer.
    request.resume();
    if ((error as { type?: string }).type === 'entity.too.large') {
      throw new ApiError('PAYLOAD_TOO_LARGE', {
        detail: `The body is larger than ${BODY_LIMIT} bytes.`,
        cause: error,
      });
    }
    throw new ApiError('MALFORMED_REQUEST', { detail: 'The body broke off.', cause: error });
  }
  return bytes.length === 0 ? NONE : { bytes, value: parseStrictJson(bytes) };
}

function assertJson(request: IncomingMessage): void {
  const { 'content-type': contentType = '', 'content-encoding': contentEncoding } = request.headers;
  const { type, parameters } = parse(contentType);
  if (type !== 'application/json') throw new ApiError('UNSUPPORTED_MEDIA_TYPE');
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
