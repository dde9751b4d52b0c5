import { isUtf8 } from 'node:buffer';
import { ApiError } from '../errors/api-error.ts';

const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;

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

/** A member is a string with a colon after it. The text is valid JSON already. */
function countMembersWritten(text: string): number {
  let members = 0;
  for (let start = text.indexOf('"'); start >= 0;) {
    let next = endOfString(text, start) + 1;
    while (text.charCodeAt(next) <= SPACE) next += 1;
    if (text.charCodeAt(next) === COLON) members += 1;
    start = text.indexOf('"', next);
  }
  return members;
}

/** @returns where the quote is that closes the string which begins at `start` */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

/** Whether an odd number of backslashes stands before a character. */
function isEscaped(text: string, index: number): boolean {
  let first = index;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (index - first) % 2 === 1;
}

function assertWellFormed(text: string): void {
  if (!text.isWellFormed()) throw malformed('The body has a lone surrogate.');
}
