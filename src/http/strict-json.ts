import { isUtf8 } from 'node:buffer';
import { ApiError } from '../errors/api-error.ts';
import { countMembersWritten, countStructure } from '../platform/json-text.ts';

/** Of the characters outside of strings a body may have so many: parsing them all takes some 20 ms. */
const MOST_STRUCTURE = 131_072;

/**
 * Parses JSON text so that every parser in front of and behind this one must see the same value: valid UTF-8, no
 * member twice, no lone surrogate, no `__proto__`.
 * @param bytes the raw body
 * @throws ApiError MALFORMED_JSON; PAYLOAD_TOO_LARGE when it has more than 128 KiB outside of its strings, white space
 *   aside
 */
export function parseStrictJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  if (text.length > MOST_STRUCTURE && countStructure(text) > MOST_STRUCTURE) {
    const detail = `The body has more than ${MOST_STRUCTURE} characters outside of its strings.`;
    throw new ApiError('PAYLOAD_TOO_LARGE', { detail });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed('The body is not valid JSON.', cause);
  }
  // A lone surrogate can only come of an escape: the bytes are UTF-8.
  const escaped = text.includes('\\');
  if (countMembers(value, escaped) !== countMembersWritten(text)) {
    throw malformed('The body has a member twice.');
  }
  return value;
}

function malformed(detail: string, cause?: unknown): ApiError {
  return new ApiError('MALFORMED_JSON', { detail, cause });
}

/** Members of all objects in a value, without recursion: nesting is limited by the size of the body only. */
function countMembers(root: unknown, escaped: boolean): number {
  const pending: unknown[] = [root];
  let members = 0;
  while (pending.length > 0) {
    const value = pending.pop();
    if (escaped && typeof value === 'string') assertWellFormed(value);
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      for (const item of value) pending.push(item);
      continue;
    }
    for (const name of Object.keys(value)) {
      if (name === '__proto__') throw malformed('The body has a member named __proto__.');
      if (escaped) assertWellFormed(name);
      members += 1;
      pending.push((value as Record<string, unknown>)[name]);
    }
  }
  return members;
}

function assertWellFormed(text: string): void {
  if (!text.isWellFormed()) throw malformed('The body has a lone surrogate.');
}
