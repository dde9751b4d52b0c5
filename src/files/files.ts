import type { Knex } from 'knex';
import type { Applications } from '../applications/applications.ts';
import type { Actor } from '../audit/audit.ts';
import { ApiError, invalidMember } from '../errors/api-error.ts';
import type { Events } from '../events/events.ts';
import { isVisibleName, NAME_FAULT } from '../names/names.ts';
import { readPage, type Page, type PageRequest } from '../paging/page.ts';
import type { Blobs } from '../platform/blobs/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import { assertIntact, type Checksums } from './checksum.ts';
import { createContents } from './contents.ts';
import { createDownloads, type Downloads } from './downloads.ts';
import * as store from './file-store.ts';
import { toFile, type HostedFile } from './hosted-file.ts';

export type { Download, Downloader } from './downloads.ts';
export type { HostedFile } from './hosted-file.ts';

const MOST_FILES = 1000;
const CLEARED_AT_ONCE = 500;

/** What a developer sets; what is left out stays as it is. */
export interface FileSettings {
  readonly version?: string | null | undefined;
  readonly authenticatedOnly?: boolean | undefined;
}

/** Files that developers host for their programs. */
export interface Files extends Downloads {
  /**
   * Creates a file or replaces its content: whoever downloads gets the old one or the new one. A failed upload changes nothing.
   * @param settings and of how many bytes the content is, where that is known before it is read
   * @throws ApiError APPLICATION_NOT_FOUND, before the content is read; CHECKSUM_MISMATCH, QUOTA_EXCEEDED as soon as it is
   *   known, TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE, and what the content throws
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
  /** Deletes some files of a deleted application. @returns how many */
  clearOf(appId: string): Promise<number>;
  /** Deletes some contents that no file has any more, or that broke off. @returns how many */
  clearContents(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly events: Events;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly newId: NewId;
  /** What all files of one developer may have together. */
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

  /** @returns how many bytes a file may have; never less than it has, also where the quota was larger once */
  async function roomFor(db: Knex, developerId: string, before: store.FileRow | undefined): Promise<number> {
    const replaced = before?.size ?? 0;
    return Math.max(replaced, quotaBytes - (await store.sumSizes(db, developerId)) + replaced);
  }

  function assertRoom(bytes: number, room: number): void {
    if (bytes <= room) return;
    throw new ApiError('QUOTA_EXCEEDED', {
      detail: `All your files together may have ${quotaBytes} bytes.`,
    });
  }

  /** A content that fails as soon as it is larger than what was left when it began. */
  async function* within(room: number, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const piece of content) {
      bytes += piece.length;
      assertRoom(bytes, room);
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
      const room = await roomFor(knex, developerId, existing);
      assertRoom(bytes ?? 0, room);
      return contents.store(developerId, within(room, content), async ({ blobId, size, sha256, keep }) => {
        assertIntact(sha256, checksums);
        return knex.transaction(async (trx) => {
          await applications.holdOfDeveloper(trx, developerId, appId);
          await store.lockFiles(trx, appId);
          await keep(trx);
          const before = await store.findFile(trx, appId, name);
          if (!before) assertVisible(name);
          if (!before && (await store.countFiles(trx, appId)) >= MOST_FILES) {
            throw new ApiError('QUOTA_EXCEEDED', { detail: `There is room for ${MOST_FILES} files.` });
          }
          await store.lockFilesOfDeveloper(trx, developerId);
          assertRoom(size, await roomFor(trx, developerId, before));
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
      });
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
        await applications.holdOfDeveloper(trx, actor.developerId, appId);
        await store.lockFiles(trx, appId);
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
        await applications.holdOfDeveloper(trx, actor.developerId, appId);
        await store.lockFiles(trx, appId);
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

/** Files from before the rule keep their names. */
function assertVisible(name: string): void {
  if (!isVisibleName(name)) throw invalidMember('path/file_name', NAME_FAULT);
}

function changeOf(actor: Actor, row: store.FileRow) {
  const { file_id, name, version, size, authenticated_only } = row;
  const data = { file_id, name, version, size, sha256: row.sha256.toString('hex'), authenticated_only };
  return { appId: row.app_id, actor, target: file_id, data };
}
