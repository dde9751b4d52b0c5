import type { Readable } from 'node:stream';
import type { Knex } from 'knex';
import type { Applications } from '../applications/applications.ts';
import type { Actor } from '../audit/audit.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Events } from '../events/events.ts';
import { readPage, type Page, type PageRequest } from '../paging/page.ts';
import type { Blobs } from '../platform/blobs/index.ts';
import type { Clock } from '../platform/clock.ts';
import { isKnown } from '../platform/entity-tag.ts';
import type { NewId } from '../platform/ids.ts';
import type { SessionIdentity } from '../sessions/sessions.ts';
import { assertIntact, type Checksums } from './checksum.ts';
import { createContents } from './contents.ts';
import { listTag, select, tagOf, type Wishes } from './selection.ts';
import * as store from './file-store.ts';

const MOST_FILES = 1000;
const CLEARED_AT_ONCE = 500;

/** What is known about a file besides its content. */
export interface HostedFile {
  readonly fileId: string;
  /** Exactly as it was given. */
  readonly name: string;
  readonly version: string | null;
  /** Whether a download needs the token of a live session. */
  readonly authenticatedOnly: boolean;
  /** In bytes. */
  readonly size: number;
  /** Of the content, in lower-case hexadecimal. */
  readonly sha256: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What a developer sets; what is left out stays as it is. */
export interface FileSettings {
  readonly version?: string | null | undefined;
  readonly authenticatedOnly?: boolean | undefined;
}

/** What is sent of a file. Whoever gets a content must read it to its end or destroy it. */
export interface Download {
  readonly file: HostedFile;
  /** The content's entity tag, with quotes. */
  readonly tag: string;
  /** Undefined when the client has the content already. */
  readonly content: Readable | undefined;
  /** The part of the content that it is, both ends included; undefined for the whole. */
  readonly range: { readonly start: number; readonly end: number } | undefined;
}

/** Which program asks. */
export interface Downloader {
  readonly appId: string;
  /** The live session whose token was sent. */
  readonly session: SessionIdentity | undefined;
}

/** Files that developers host for their programs. */
export interface Files {
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
  /** @throws ApiError APPLICATION_NOT_FOUND, FILE_NOT_FOUND, RANGE_NOT_SATISFIABLE, SERVICE_UNAVAILABLE */
  download(developerId: string, appId: string, name: string, wishes: Wishes): Promise<Download>;
  /**
   * What a program may download, by name.
   * @param ifNoneMatch as it was sent
   * @returns the entity tag of the list, and the list unless the program has it already
   * @throws ApiError APPLICATION_NOT_FOUND, APPLICATION_INACTIVE; SESSION_INVALID for a session of another application
   */
  available(
    downloader: Downloader,
    ifNoneMatch: string | undefined,
  ): Promise<{ readonly tag: string; readonly files: HostedFile[] | undefined }>;
  /** One of them. @throws ApiError UNAUTHORIZED when it needs a session, and those of available and download */
  downloadForProgram(downloader: Downloader, name: string, wishes: Wishes): Promise<Download>;
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

  async function open(row: store.FileRow, wishes: Wishes): Promise<Download> {
    const tag = tagOf(row.sha256);
    const selection = select(row.size, tag, wishes);
    const range = typeof selection === 'object' ? selection : undefined;
    const content = selection === 'unchanged' ? undefined : await contents.open(row.blob_id, range);
    return { file: toFile(row), tag, content, range };
  }

  /** @param find reads the file, which may be replaced, and its old content cleared, before that is opened */
  async function openLatest(find: () => Promise<store.FileRow>, wishes: Wishes): Promise<Download> {
    const row = await find();
    try {
      return await open(row, wishes);
    } catch (error) {
      const latest = await find();
      if (latest.blob_id === row.blob_id) throw error;
      return open(latest, wishes);
    }
  }

  /** @throws ApiError UNAUTHORIZED for a file that needs a session */
  async function allowed({ appId, session }: Downloader, name: string): Promise<store.FileRow> {
    const row = await required(appId, name);
    if (!row.authenticated_only || session) return row;
    throw new ApiError('UNAUTHORIZED', {
      detail: 'The file is for whoever sends the token of a live session.',
    });
  }

  async function admit({ appId, session }: Downloader): Promise<void> {
    await applications.usable(appId);
    if (session && session.appId !== appId) throw new ApiError('SESSION_INVALID');
  }

  return {
    async upload(actor, appId, name, content, { version, authenticatedOnly, bytes, ...checksums }) {
      const { developerId } = actor;
      await applications.ofDeveloper(developerId, appId);
      const room = await roomFor(knex, developerId, await store.findFile(knex, appId, name));
      assertRoom(bytes ?? 0, room);
      return contents.store(developerId, within(room, content), async ({ blobId, size, sha256, keep }) => {
        assertIntact(sha256, checksums);
        return knex.transaction(async (trx) => {
          await applications.holdOfDeveloper(trx, developerId, appId);
          await store.lockFiles(trx, appId);
          await keep(trx);
          const before = await store.findFile(trx, appId, name);
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

    async download(developerId, appId, name, wishes) {
      await applications.ofDeveloper(developerId, appId);
      return openLatest(() => required(appId, name), wishes);
    },

    async available(downloader, ifNoneMatch) {
      await admit(downloader);
      const rows = await store.listDownloads(knex, downloader.appId, downloader.session !== undefined);
      const files = rows.map(toFile);
      const tag = listTag(files);
      return { tag, files: isKnown(ifNoneMatch, tag) ? undefined : files };
    },

    async downloadForProgram(downloader, name, wishes) {
      await admit(downloader);
      return openLatest(() => allowed(downloader, name), wishes);
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

function changeOf(actor: Actor, row: store.FileRow) {
  const { file_id, name, version, size, authenticated_only } = row;
  const data = { file_id, name, version, size, sha256: row.sha256.toString('hex'), authenticated_only };
  return { appId: row.app_id, actor, target: file_id, data };
}

function toFile(row: store.FileRow): HostedFile {
  return {
    fileId: row.file_id,
    name: row.name,
    version: row.version,
    authenticatedOnly: row.authenticated_only,
    size: row.size,
    sha256: row.sha256.toString('hex'),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
