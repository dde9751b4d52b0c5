import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Knex } from 'knex';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { BlobsUnavailableError, type Blobs, type ByteRange } from '../../platform/blobs/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { createConcurrencyLimit } from '../../platform/concurrency-limit.ts';
import type { NewId } from '../../platform/ids.ts';
import * as store from './file-store.ts';

const MINUTE_MS = 60_000;
/** An upload that has made no progress for this long counts as abandoned. */
const KEPT_MS = 60 * MINUTE_MS;
const RENEWED_MS = 10 * MINUTE_MS;
/** A download that has just read the file's row still gets to open its content. */
const GRACE_MS = 5 * MINUTE_MS;
/** While one node deletes a content, other nodes wait this long before they try. */
const CLEARING_MS = 10 * MINUTE_MS;
const CLEARED_AT_ONCE = 20;
/** Concurrent uploads of one node: each uses memory for as long as its sender takes. */
const UPLOADS_PER_DEVELOPER = 4;
const UPLOADS = 64;

const RETRY_SECONDS = 1;
/** Space must be freed first. */
const RETRY_WHEN_FULL_SECONDS = 60;

/** A content in the blob store that belongs to no file yet. */
export interface StoredContent {
  readonly blobId: string;
  /** In bytes. */
  readonly size: number;
  readonly sha256: Buffer;
  /**
   * Assigns the content to a file inside the caller's transaction.
   * @throws ApiError SERVICE_UNAVAILABLE if it expired
   */
  keep(trx: Knex.Transaction): Promise<void>;
}

/**
 * Contents of files. Each is recorded in the database before it is stored, so that the remains of interrupted uploads
 * are found and deleted, even after a kill.
 */
export interface Contents {
  /**
   * Stores a content.
   * @param commit assigns it to a file; if it fails, the content is deleted
   * @throws ApiError TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE, and what content and commit throw
   */
  store<Result>(
    developerId: string,
    content: AsyncIterable<Uint8Array>,
    commit: (stored: StoredContent) => Promise<Result>,
  ): Promise<Result>;
  /** @throws ApiError SERVICE_UNAVAILABLE */
  open(blobId: string, range: ByteRange | undefined): Promise<Readable>;
  /** Releases contents that files had, inside the caller's transaction. */
  release(trx: Knex.Transaction, blobIds: readonly string[]): Promise<void>;
  /** Deletes a batch of released contents. @returns how many */
  clear(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createContents({ knex, blobs, clock, newId }: Dependencies): Contents {
  const uploads = createConcurrencyLimit({
    limit: UPLOADS,
    limitPerKey: UPLOADS_PER_DEVELOPER,
    queue: 0,
    refusal: () =>
      new ApiError('TOO_MANY_REQUESTS', {
        detail: 'Too many uploads are in progress.',
        retryAfter: RETRY_SECONDS,
      }),
  });
  const after = (ms: number) => new Date(clock.now().getTime() + ms);

  async function clearAway(blobId: string): Promise<void> {
    await blobs.delete(blobId);
    await store.deleteBlob(knex, blobId);
  }

  return {
    store: (developerId, content, commit) =>
      uploads.run(developerId, async () => {
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
          // Otherwise housekeeping deletes it: the caller must receive the original error.
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
      const blobIds = await store.takeUnneeded(knex, clock.now(), after(CLEARING_MS), CLEARED_AT_ONCE);
      for (const blobId of blobIds) await clearAway(blobId);
      return blobIds.length;
    },
  };
}

/**
 * Whether the content of a failed upload can be deleted at once. A transaction whose connection was lost at its end may
 * have been committed, and an unreachable store would only cause another wait.
 */
function isOver(error: unknown): boolean {
  return error instanceof ApiError || (error instanceof BlobsUnavailableError && error.full);
}

function givenUp(): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', {
    detail: 'The upload made no progress for too long.',
    retryAfter: RETRY_SECONDS,
  });
}

function toApiError(error: unknown): unknown {
  if (!(error instanceof BlobsUnavailableError)) return error;
  return new ApiError('SERVICE_UNAVAILABLE', {
    detail: error.full ? 'The file store is full.' : 'The file store is unavailable.',
    retryAfter: error.full ? RETRY_WHEN_FULL_SECONDS : RETRY_SECONDS,
    cause: error.cause,
  });
}
