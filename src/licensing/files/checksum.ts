import { ApiError } from '../../foundation/errors/api-error.ts';

/** The digests that a request declares for its content, as sent. */
export interface Checksums {
  /** SHA-256 in hexadecimal. */
  readonly sha256: string | undefined;
  /** `Content-Digest` (RFC 9530). */
  readonly contentDigest: string | undefined;
}

/**
 * Refuses content that does not match the declared digests.
 * @param digest its SHA-256
 * @throws ApiError CHECKSUM_MISMATCH, also for a `Content-Digest` whose sha-256 cannot be read
 */
export function assertIntact(digest: Buffer, { sha256, contentDigest }: Checksums): void {
  const expected = [
    ...(sha256 === undefined ? [] : [Buffer.from(sha256, 'hex')]),
    ...sha256Of(contentDigest ?? ''),
  ];
  if (expected.some((wanted) => !wanted.equals(digest))) throw new ApiError('CHECKSUM_MISMATCH');
}

/** The sha-256 members of a `Content-Digest`: byte sequences of a dictionary (RFC 8941). */
function sha256Of(contentDigest: string): Buffer[] {
  return contentDigest
    .split(',')
    .map((member) => /^\s*sha-256\s*=\s*(?::([A-Za-z0-9+/]*={0,2}):)?/.exec(member))
    .filter((match) => match !== null)
    .map((match) => Buffer.from(match[1] ?? '', 'base64'));
}
