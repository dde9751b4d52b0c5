import { createHash } from 'node:crypto';
import parseRange from 'range-parser';
import { ApiError } from '../errors/api-error.ts';
import { isKnown } from '../platform/entity-tag.ts';

/** What a download asks for besides the file, as it was sent (RFC 9110, sections 13 and 14). */
export interface Wishes {
  readonly ifNoneMatch: string | undefined;
  readonly ifRange: string | undefined;
  readonly range: string | undefined;
}

/** What of a content is to be sent: the whole, nothing because the client has it, or a part whose both ends count. */
export type Selection = 'whole' | 'unchanged' | { readonly start: number; readonly end: number };

/** One range of bytes; several are not worth their cost, and may be ignored. */
const ONE_RANGE = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i;

/**
 * @param size of the whole content
 * @param tag its entity tag, with quotes: a strong one
 * @throws ApiError RANGE_NOT_SATISFIABLE
 */
export function select(size: number, tag: string, { ifNoneMatch, ifRange, range }: Wishes): Selection {
  if (isKnown(ifNoneMatch, tag)) return 'unchanged';
  const asked = ONE_RANGE.exec(range?.replaceAll(/[ \t]/g, '') ?? '');
  // A date in If-Range is not the entity tag either.
  if (!asked || (ifRange !== undefined && ifRange.trim() !== tag)) return 'whole';
  const [, first, last, suffix] = asked;
  if (first !== undefined && last && Number(last) < Number(first)) return 'whole';
  // The library takes a suffix that is longer than the content for one that cannot be satisfied.
  if (suffix !== undefined && Number(suffix) >= size && size > 0) return { start: 0, end: size - 1 };
  const ranges = parseRange(size, asked[0]);
  if (typeof ranges === 'number') throw new ApiError('RANGE_NOT_SATISFIABLE', { members: { size } });
  const [{ start, end }] = ranges as unknown as [parseRange.Range];
  return { start, end };
}

/** The strong entity tag of a content. */
export function tagOf(sha256: Buffer): string {
  return `"${sha256.toString('hex')}"`;
}

/** The entity tag of a list. */
export function listTag(items: readonly object[]): string {
  return `"${createHash('sha256').update(JSON.stringify(items)).digest('base64url')}"`;
}
