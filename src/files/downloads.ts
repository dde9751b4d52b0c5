import type { Readable } from 'node:stream';
import type { Knex } from 'knex';
import type { Applications } from '../applications/applications.ts';
import { ApiError } from '../errors/api-error.ts';
import { isKnown } from '../platform/entity-tag.ts';
import type { SessionIdentity } from '../sessions/sessions.ts';
import type { Contents } from './contents.ts';
import { findFile, listDownloads, type FileRow } from './file-store.ts';
import { toFile, type HostedFile } from './hosted-file.ts';
import { listTag, select, tagOf, type Wishes } from './selection.ts';

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

/** Files on their way out. */
export interface Downloads {
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
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Pick<Applications, 'ofDeveloper' | 'usable'>;
  readonly contents: Pick<Contents, 'open'>;
}

export function createDownloads({ knex, applications, contents }: Dependencies): Downloads {
  async function required(appId: string, name: string): Promise<FileRow> {
    const row = await findFile(knex, appId, name);
    if (!row) throw new ApiError('FILE_NOT_FOUND');
    return row;
  }

  async function open(row: FileRow, wishes: Wishes): Promise<Download> {
    const tag = tagOf(row.sha256);
    const selection = select(row.size, tag, wishes);
    const range = typeof selection === 'object' ? selection : undefined;
    const content = selection === 'unchanged' ? undefined : await contents.open(row.blob_id, range);
    return { file: toFile(row), tag, content, range };
  }

  /** @param find reads the file, which may be replaced, and its old content cleared, before that is opened */
  async function openLatest(find: () => Promise<FileRow>, wishes: Wishes): Promise<Download> {
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
  async function allowed({ appId, session }: Downloader, name: string): Promise<FileRow> {
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
    async download(developerId, appId, name, wishes) {
      await applications.ofDeveloper(developerId, appId);
      return openLatest(() => required(appId, name), wishes);
    },

    async available(downloader, ifNoneMatch) {
      await admit(downloader);
      const rows = await listDownloads(knex, downloader.appId, downloader.session !== undefined);
      const files = rows.map(toFile);
      const tag = listTag(files);
      return { tag, files: isKnown(ifNoneMatch, tag) ? undefined : files };
    },

    async downloadForProgram(downloader, name, wishes) {
      await admit(downloader);
      return openLatest(() => allowed(downloader, name), wishes);
    },
  };
}
