import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Actor } from '../../foundation/audit/audit.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import { isVisibleName, NAME_FAULT } from '../../foundation/names/names.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type { Blobs } from '../../platform/blobs/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import { assertIntact, type Checksums } from './checksum.ts';
import { createContents } from './contents.ts';
import { createDownloads, type Downloads } from './downloads.ts';
import * as store from './file-store.ts';
import { toFile, type HostedFile } from './hosted-file.ts';

export type { Download, Downloader } from './downloads.ts';
export type { HostedFile } from './hosted-file.ts';

const MOST_FILES = 1000;
const CLEARED_AT_ONCE = 500;

/** The settings of a file; omitted ones stay unchanged. */
export interface FileSettings {
  readonly version?: string | null | undefined;
  readonly authenticatedOnly?: boolean | undefined;
}

/** Files that developers host for their programs. */
export interface Files extends Downloads {
  /**
   * Creates a file or replaces its content: a concurrent download returns the old or the new one. A failed upload
   * changes nothing.
   * @param settings with the size of the content in bytes, if it is known before the content is read
   * @throws ApiError APPLICATION_NOT_FOUND, before the content is read; CHECKSUM_MISMATCH, QUOTA_EXCEEDED as soon as it
   *   is known, TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE, and what the content throws
   */
  upload(
    actor: Actor,
    appId: string,
    name: string,
    content: AsyncIterable<Uint8Array>,
    settings: FileSettings & Checksums & { readonly bytes?: number | undefined },
  ): Promise<HostedFile>;
  /** @throws ApiError APPLICATION_NOT_FOUND, FILE_NOT_FOUND */
  get(developerId: string, appId: string, name: string): Promise<HostedFile>;
  /** @throws ApiError APPLICATION_NOT_FOUND */
  list(developerId: string, appId: string, page: PageRequest): Promise<Page<HostedFile>>;
  /** @throws ApiError APPLICATION_NOT_FOUND, FILE_NOT_FOUND */
  update(actor: Actor, appId: string, name: string, settings: FileSettings): Promise<HostedFile>;
  /** @throws ApiError APPLICATION_NOT_FOUND, FILE_NOT_FOUND */
  delete(actor: Actor, appId: string, name: string): Promise<void>;
  /** Deletes a batch of files of a deleted application. @returns how many */
  clearOf(appId: string): Promise<number>;
  /** Deletes a batch of contents without a file, or of interrupted uploads. @returns how many */
  clearContents(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly events: Events;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly newId: NewId;
  /** The limit for all files of one developer together. */
  readonly quotaBytes: number;
}

export function createFiles(deps: Dependencies): Files {
  const { knex, applications, events, blobs, clock, newId, quotaBytes } = deps;
  const contents = createContents({ knex, blobs, clock, newId });

  async function required(appId: string, name: string, db: Knex = knex): Promise<store.FileRow> {
    const row = await store.findFile(db, appId, name);
    if (!row) throw new ApiError('FILE_NOT_FOUND');
    return row;
  }

  /** @returns the maximum size of a file in bytes; at least its current size, even if the quota was lowered */
  async function remainingBytes(
    db: Knex,
    developerId: string,
    before: store.FileRow | undefined,
  ): Promise<number> {
    const replaced = before?.size ?? 0;
    const used = await store.sumSizes(db, await applications.idsOfDeveloper(db, developerId));
    return Math.max(replaced, quotaBytes - used + replaced);
  }

  function assertWithinQuota(bytes: number, remaining: number): void {
    if (bytes <= remaining) return;
    throw new ApiError('QUOTA_EXCEEDED', {
      detail: `The quota for all your files is ${quotaBytes} bytes.`,
    });
  }

  /** A content that fails as soon as it exceeds the remaining quota. */
  async function* within(remaining: number, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const piece of content) {
      bytes += piece.length;
      assertWithinQuota(bytes, remaining);
      yield piece;
    }
  }

  return {
    ...createDownloads({ knex, applications, contents }),

    async upload(actor, appId, name, content, { version, authenticatedOnly, bytes, ...checksums }) {
      const { developerId } = actor;
      await applications.ofDeveloper(developerId, appId);
      const existing = await store.findFile(knex, appId, name);
      if (!existing) assertVisible(name);
      const remaining = await remainingBytes(knex, developerId, existing);
      assertWithinQuota(bytes ?? 0, remaining);
      return contents.store(
        developerId,
        within(remaining, content),
        async ({ blobId, size, sha256, keep }) => {
          assertIntact(sha256, checksums);
          return knex.transaction(async (trx) => {
            await applications.lockOfDeveloperForShare(trx, developerId, appId);
            await store.lockFilesForUpdate(trx, appId);
            await keep(trx);
            const before = await store.findFile(trx, appId, name);
            if (!before) assertVisible(name);
            if (!before && (await store.countFiles(trx, appId)) >= MOST_FILES) {
              throw new ApiError('QUOTA_EXCEEDED', {
                detail: `An application can have at most ${MOST_FILES} files.`,
              });
            }
            await store.lockFilesOfDeveloperForUpdate(trx, developerId);
            assertWithinQuota(size, await remainingBytes(trx, developerId, before));
            const now = clock.now();
            const row: store.FileRow = {
              file_id: before?.file_id ?? newId('fil'),
              app_id: appId,
              name,
              version: version === undefined ? (before?.version ?? null) : version,
              authenticated_only: authenticatedOnly ?? before?.authenticated_only ?? false,
              size,
              sha256,
              blob_id: blobId,
              created_at: before?.created_at ?? now,
              updated_at: now,
            };
            if (before) {
              await store.updateFile(trx, row.file_id, row);
              await contents.release(trx, [before.blob_id]);
            } else {
              await store.insertFile(trx, row);
            }
            await events.record(trx, { type: 'file.uploaded', ...changeOf(actor, row) });
            return toFile(row);
          });
        },
      );
    },

    async get(developerId, appId, name) {
      await applications.ofDeveloper(developerId, appId);
      return toFile(await required(appId, name));
    },

    async list(developerId, appId, request) {
      await applications.ofDeveloper(developerId, appId);
      const page = await readPage(
        request,
        'fil',
        (row: store.FileRow) => row.file_id,
        (range) => store.listFiles(knex, appId, range),
      );
      return { data: page.data.map(toFile), nextCursor: page.nextCursor };
    },

    async update(actor, appId, name, { version, authenticatedOnly }) {
      return knex.transaction(async (trx) => {
        await applications.lockOfDeveloperForShare(trx, actor.developerId, appId);
        await store.lockFilesForUpdate(trx, appId);
        const before = await required(appId, name, trx);
        const wanted = {
          version: version === undefined ? before.version : version,
          authenticated_only: authenticatedOnly ?? before.authenticated_only,
        };
        const same =
          wanted.version === before.version && wanted.authenticated_only === before.authenticated_only;
        if (same) return toFile(before);
        const changes = { ...wanted, updated_at: clock.now() };
        const row = { ...before, ...changes };
        await store.updateFile(trx, before.file_id, changes);
        await events.record(trx, { type: 'file.updated', ...changeOf(actor, row) });
        return toFile(row);
      });
    },

    async delete(actor, appId, name) {
      await knex.transaction(async (trx) => {
        await applications.lockOfDeveloperForShare(trx, actor.developerId, appId);
        await store.lockFilesForUpdate(trx, appId);
        const row = await required(appId, name, trx);
        await store.deleteFile(trx, row.file_id);
        await contents.release(trx, [row.blob_id]);
        await events.record(trx, {
          type: 'file.deleted',
          appId,
          actor,
          target: row.file_id,
          data: { file_id: row.file_id, name },
        });
      });
    },

    async clearOf(appId) {
      return knex.transaction(async (trx) => {
        const blobIds = await store.deleteFilesOfApplication(trx, appId, CLEARED_AT_ONCE);
        await contents.release(trx, blobIds);
        return blobIds.length;
      });
    },

    clearContents: contents.clear,
  };
}

/** Files that are older than the rule keep their names. */
function assertVisible(name: string): void {
  if (!isVisibleName(name)) throw invalidMember('path/file_name', NAME_FAULT);
}

function changeOf(actor: Actor, row: store.FileRow) {
  const { file_id, name, version, size, authenticated_only } = row;
  const data = { file_id, name, version, size, sha256: row.sha256.toString('hex'), authenticated_only };
  return { appId: row.app_id, actor, target: file_id, data };
}
