import { createHash } from 'node:crypto';
import parseRange from 'range-parser';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { isKnown } from '../../platform/entity-tag.ts';

/** The conditional and range headers of a download, as sent (RFC 9110, sections 13 and 14). */
export interface DownloadConditions {
  readonly ifNoneMatch: string | undefined;
  readonly ifRange: string | undefined;
  readonly range: string | undefined;
}

/** The part of a content to send: all of it, nothing because the client has it, or a range with inclusive ends. */
export type Selection = 'whole' | 'unchanged' | { readonly start: number; readonly end: number };

/** One range of bytes; requests for several ranges are ignored, as RFC 9110 permits. */
const ONE_RANGE = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i;

/**
 * @param size of the whole content
 * @param tag its strong entity tag, with quotes
 * @throws ApiError RANGE_NOT_SATISFIABLE
 */
export function select(
  size: number,
  tag: string,
  { ifNoneMatch, ifRange, range }: DownloadConditions,
): Selection {
  if (isKnown(ifNoneMatch, tag)) return 'unchanged';
  const headers = ONE_RANGE.exec(range?.replaceAll(/[ \t]/g, '') ?? '');
  // A date in If-Range is not the entity tag either.
  if (!headers || (ifRange !== undefined && ifRange.trim() !== tag)) return 'whole';
  const [, first, last, suffix] = headers;
  if (first !== undefined && last && Number(last) < Number(first)) return 'whole';
  // The library rejects a suffix that is longer than the content as unsatisfiable.
  if (suffix !== undefined && Number(suffix) >= size && size > 0) return { start: 0, end: size - 1 };
  const ranges = parseRange(size, headers[0]);
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
