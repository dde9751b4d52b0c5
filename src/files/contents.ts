import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Knex } from 'knex';
import { ApiError } from '../errors/api-error.ts';
import { BlobsUnavailableError, type Blobs, type ByteRange } from '../platform/blobs/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import * as store from './file-store.ts';

const MINUTE_MS = 60_000;
/** An upload that has not said for so long that it goes on is none any more. */
const KEPT_MS = 60 * MINUTE_MS;
const RENEWED_MS = 10 * MINUTE_MS;
/** Whoever has just read that a file has this content gets to open it. */
const GRACE_MS = 5 * MINUTE_MS;
/** Nobody else tries a content for so long that one node has begun to clear. */
const CLEARING_MS = 10 * MINUTE_MS;
const CLEARED_AT_ONCE = 20;
/** Uploads that one node takes at a time: each holds some memory, for as long as its sender likes. */
const UPLOADS_A_DEVELOPER = 4;
const UPLOADS = 64;

const RETRY_SECONDS = 1;
/** Somebody must make room first. */
const RETRY_WHEN_FULL_SECONDS = 60;

/** A content that the blob store has, and no file yet. */
export interface StoredContent {
  readonly blobId: string;
  /** In bytes. */
  readonly size: number;
  readonly sha256: Buffer;
  /** Makes it the content of a file, with the caller's transaction. @throws ApiError SERVICE_UNAVAILABLE when it was given up */
  keep(trx: Knex.Transaction): Promise<void>;
}

/**
 * Contents of files. The database knows each of them before the blob store does, so that what is left of uploads that broke
 * off, be it by a kill, is found and cleared away.
 */
export interface Contents {
  /**
   * Stores a content.
   * @param commit makes it a file's; when it fails the content is cleared away
   * @throws ApiError TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE, and what content and commit throw
   */
  store<Result>(
    developerId: string,
    content: AsyncIterable<Uint8Array>,
    commit: (stored: StoredContent) => Promise<Result>,
  ): Promise<Result>;
  /** @throws ApiError SERVICE_UNAVAILABLE */
  open(blobId: string, range: ByteRange | undefined): Promise<Readable>;
  /** Gives contents up that files had, with the caller's transaction. */
  release(trx: Knex.Transaction, blobIds: readonly string[]): Promise<void>;
  /** Deletes some contents that were given up. @returns how many */
  clear(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createContents({ knex, blobs, clock, newId }: Dependencies): Contents {
  const uploading = new Map<string, number>();
  let uploads = 0;
  const after = (ms: number) => new Date(clock.now().getTime() + ms);

  async function oneOfFew<Result>(developerId: string, work: () => Promise<Result>): Promise<Result> {
    const own = uploading.get(developerId) ?? 0;
    if (own >= UPLOADS_A_DEVELOPER || uploads >= UPLOADS) {
      throw new ApiError('TOO_MANY_REQUESTS', {
        detail: 'Other uploads are under way.',
        retryAfter: RETRY_SECONDS,
      });
    }
    uploading.set(developerId, own + 1);
    uploads += 1;
    try {
      return await work();
    } finally {
      uploads -= 1;
      const left = uploading.get(developerId)! - 1;
      if (left > 0) uploading.set(developerId, left);
      else uploading.delete(developerId);
    }
  }

  async function clearAway(blobId: string): Promise<void> {
    await blobs.delete(blobId);
    await store.deleteBlob(knex, blobId);
  }

  return {
    store: (developerId, content, commit) =>
      oneOfFew(developerId, async () => {
        const blobId = newId('blb');
        const hash = createHash('sha256');
        let size = 0;
        let keptUntil = after(KEPT_MS);
        let renewAt = after(RENEWED_MS);

        async function keep(db: Knex, until: Date | null): Promise<void> {
          if (!(await store.keepBlob(db, blobId, keptUntil, until))) throw givenUp();
        }
        async function* measured(): AsyncGenerator<Uint8Array> {
          for await (const piece of content) {
            hash.update(piece);
            size += piece.length;
            if (clock.now() >= renewAt) {
              const until = after(KEPT_MS);
              await keep(knex, until);
              keptUntil = until;
              renewAt = after(RENEWED_MS);
            }
            yield piece;
          }
        }

        await store.insertBlob(knex, blobId, keptUntil);
        try {
          await blobs.put(blobId, measured());
          return await commit({ blobId, size, sha256: hash.digest(), keep: (trx) => keep(trx, null) });
        } catch (error) {
          // Else housekeeping does it: what went wrong is what the caller must hear.
          if (isOver(error)) await clearAway(blobId).catch(() => {});
          throw toApiError(error);
        }
      }),

    async open(blobId, range) {
      try {
        return await blobs.open(blobId, range);
      } catch (error) {
        throw toApiError(error);
      }
    },

    async release(trx, blobIds) {
      if (blobIds.length > 0) await store.releaseBlobs(trx, blobIds, after(GRACE_MS));
    },

    async clear() {
      const blobIds = await store.takeNeedless(knex, clock.now(), after(CLEARING_MS), CLEARED_AT_ONCE);
      for (const blobId of blobIds) await clearAway(blobId);
      return blobIds.length;
    },
  };
}

/**
 * Whether a content that failed can be cleared away at once. A transaction whose connection was lost at its end may have been
 * committed all the same, and a store that is away would only be waited for again.
 */
function isOver(error: unknown): boolean {
  return error instanceof ApiError || (error instanceof BlobsUnavailableError && error.full);
}

function givenUp(): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', {
    detail: 'The upload stood still for too long.',
    retryAfter: RETRY_SECONDS,
  });
}

function toApiError(error: unknown): unknown {
  if (!(error instanceof BlobsUnavailableError)) return error;
  return new ApiError('SERVICE_UNAVAILABLE', {
    detail: error.full ? 'The file store has no room.' : 'The file store cannot be used just now.',
    retryAfter: error.full ? RETRY_WHEN_FULL_SECONDS : RETRY_SECONDS,
    cause: error.cause,
  });
}
