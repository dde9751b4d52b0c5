import { isUtf8 } from 'node:buffer';
import { countMembersWritten, countStructure } from './json-text.ts';

/** The limit of characters outside of strings: parsing this many takes about 20 ms. */
export const MOST_STRUCTURE = 131_072;

/** What is wrong with JSON from outside, as a predicate: "is not valid JSON". */
export class StrictJsonError extends Error {
  override name = 'StrictJsonError';
  /** Whether it would take too long to parse. */
  readonly isTooLarge: boolean;

  constructor(
    message: string,
    { isTooLarge = false, cause }: { isTooLarge?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.isTooLarge = isTooLarge;
  }
}

/**
 * Parses untrusted JSON, and accepts only text that every parser reads as the same value: valid UTF-8 without a byte
 * order mark, without duplicate members, lone surrogates or `__proto__`.
 * @throws StrictJsonError also for more than 128 KiB outside of strings, not counting white space
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw new StrictJsonError('is not valid UTF-8');
  return parseStrictText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
}

/** The same for JSON that was decoded already. @throws StrictJsonError */

export function parseStrictText(text: string): unknown {
  if (text.length > MOST_STRUCTURE && countStructure(text) > MOST_STRUCTURE) {
    const message = `has more than ${MOST_STRUCTURE} characters outside its strings`;
    throw new StrictJsonError(message, { isTooLarge: true });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new StrictJsonError('is not valid JSON', { cause });
  }
  // A lone surrogate can only result from an escape: the bytes are valid UTF-8.
  const escaped = text.includes('\\');
  if (countMembers(value, escaped) !== countMembersWritten(text)) {
    throw new StrictJsonError('has a duplicate member');
  }
  return value;
}

/** Members of all objects in a value, without recursion: nesting is limited by the size of the text only. */
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
      if (name === '__proto__') throw new StrictJsonError('has a member named __proto__');
      if (escaped) assertWellFormed(name);
      members += 1;
      pending.push((value as Record<string, unknown>)[name]);
    }
  }
  return members;
}

function assertWellFormed(text: string): void {
  if (!text.isWellFormed()) throw new StrictJsonError('has a lone surrogate');
}
