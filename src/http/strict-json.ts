import { isUtf8 } from 'node:buffer';
import { ApiError } from '../errors/api-error.ts';

const STRING_OR_MEMBER = /"(?:[^"\\]|\\.)*"(\s*:)?/gs;

/**
 * Parses JSON text so that every parser in front of and behind this one must see the same value: valid UTF-8, no
 * member twice, no lone surrogate, no `__proto__`.
 * @param bytes the raw body
 * @throws ApiError MALFORMED_JSON
 */
export function parseStrictJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed('The body is not valid JSON.', cause);
  }
  if (countMembers(value) !== countMembersWritten(text)) throw malformed('The body has a member twice.');
  return value;
}

function malformed(detail: string, cause?: unknown): ApiError {
  return new ApiError('MALFORMED_JSON', { detail, cause });
}

/** Members of all objects in a value, without recursion: nesting is limited by the size of the body only. */
function countMembers(root: unknown): number {
  const pending: unknown[] = [root];
  let members = 0;
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === 'string') assertWellFormed(value);
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      for (const item of value) pending.push(item);
      continue;
    }
    for (const name of Object.keys(value)) {
      if (name === '__proto__') throw malformed('The body has a member named __proto__.');
      assertWellFormed(name);
      members += 1;
      pending.push((value as Record<string, unknown>)[name]);
    }
  }
  return members;
}

/** A member is a string with a colon after it. The text is valid JSON already. */
function countMembersWritten(text: string): number {
  let members = 0;
  for (const match of text.matchAll(STRING_OR_MEMBER)) if (match[1]) members += 1;
  return members;
}

function assertWellFormed(text: string): void {
  if (!text.isWellFormed()) throw malformed('The body has a lone surrogate.');
}
