import { isUtf8 } from 'node:buffer';
import { ApiError } from '../../foundation/errors/api-error.ts';

const MOST_FIELDS = 100;
/** RFC 8707 allows a client to repeat it. */
const REPEATABLE = ['resource'];

/**
 * Parses a form (application/x-www-form-urlencoded) that every parser reads the same way: valid UTF-8 before and after
 * percent-decoding, and no parameter twice (RFC 6749, section 3.2) except `resource`.
 * @param bytes the raw body
 * @param mostFields the most fields that it may have
 * @returns the fields by their names; the last value of `resource`
 * @throws ApiError MALFORMED_REQUEST
 */
export function parseStrictForm(bytes: Buffer, mostFields = MOST_FIELDS): Readonly<Record<string, string>> {
  if (!isUtf8(bytes)) throw malformed('The form is not valid UTF-8.');
  const parts = bytes.toString('utf8').split('&', mostFields + 1);
  if (parts.length > mostFields) throw malformed(`The form has more than ${mostFields} fields.`);
  const fields = new Map<string, string>();
  for (const part of parts) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = decode(at < 0 ? part : part.slice(0, at));
    if (name === '__proto__') throw malformed('The form has a field named __proto__.');
    if (fields.has(name) && !REPEATABLE.includes(name)) throw malformed('The form has a duplicate field.');
    fields.set(name, at < 0 ? '' : decode(part.slice(at + 1)));
  }
  return Object.fromEntries(fields);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw malformed('The form is not percent-encoded UTF-8.', cause);
  }
}

function malformed(detail: string, cause?: unknown): ApiError {
  return new ApiError('MALFORMED_REQUEST', { detail, cause });
}
