import type { IncomingMessage } from 'node:http';
import { parse } from 'content-type';
import getRawBody from 'raw-body';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { excludingWait } from '../../platform/request-scope.ts';
import { countHeader } from './request-fault.ts';
import { parseStrictForm } from './strict-form.ts';
import { parseJsonBody } from './strict-json.ts';

/** 128 KiB for operations without a limit of their own: enough for a list of executable hashes. */
export const BODY_LIMIT = 131_072;

/** A body, raw and parsed. */
export interface JsonBody {
  readonly bytes: Buffer;
  /** Undefined for a request without a body. */
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

/** A form, raw and parsed. */
export interface FormBody {
  readonly bytes: Buffer;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Reads and parses the form in the body of a request; a request without a body has no fields.
 * @param limit in bytes
 * @param mostFields the most fields that it may have; 100 by default
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

/** @returns no bytes for a request without a body */
async function readBytes(request: IncomingMessage, mediaType: string, limit: number): Promise<Buffer> {
  const { headers } = request;
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) {
    return NONE.bytes;
  }
  assertMediaType(request, [mediaType]);
  try {
    const body = getRawBody(request, { length: headers['content-length'] ?? null, limit });
    // Most bodies arrive whole with the head, without waiting for the client.
    return await (request.complete ? body : excludingWait(body));
  } catch (error) {
    // Discards the rest of the body, so that the client can read the response.
    request.resume();
    if ((error as { type?: string }).type === 'entity.too.large') {
      throw tooLarge(limit, error);
    }
    throw incomplete(error);
  }
}

/** The error for a body over its limit. */
export function tooLarge(limit: number, cause?: unknown): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', { detail: `The body is larger than ${limit} bytes.`, cause });
}

/** The error for a body that ends too early. */
export function incomplete(cause: unknown): ApiError {
  return new ApiError('MALFORMED_REQUEST', { detail: 'The request body was incomplete.', cause });
}

/** The media type of a body, without parameters, as the contract writes it. */
export function mediaTypeOf({ headers }: IncomingMessage): string {
  return parse(headers['content-type'] ?? '').type;
}

/**
 * Checks that a body has one of some media types and is plain UTF-8.
 * @throws ApiError UNSUPPORTED_MEDIA_TYPE
 */
export function assertMediaType(request: IncomingMessage, mediaTypes: readonly string[]): void {
  const { 'content-type': contentType = '', 'content-encoding': contentEncoding } = request.headers;
  const { type, parameters } = parse(contentType);
  // A body without a type is a sequence of bytes (RFC 9110, section 8.3).
  const isAccepted = mediaTypes.includes(contentType === '' ? 'application/octet-stream' : type);
  if (!isAccepted) throw unsupported(`The Content-Type must be ${mediaTypes.join(' or ')}.`);
  const { charset = 'utf-8' } = parameters;
  if (charset.toLowerCase() !== 'utf-8') throw unsupported('The charset must be utf-8.');
  const quotes = contentType.split('"').length - 1;
  const charsets = contentType.toLowerCase().split('charset').length - 1;
  if (countHeader(request, 'content-type') > 1 || charsets > 1 || quotes % 2 === 1) {
    throw unsupported('The Content-Type is ambiguous.');
  }
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    throw unsupported('The body must not have a Content-Encoding.');
  }
}

function unsupported(detail: string): ApiError {
  return new ApiError('UNSUPPORTED_MEDIA_TYPE', { detail });
}
