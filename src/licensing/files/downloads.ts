import type { Readable } from 'node:stream';
import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { ClientTrust } from '../../foundation/client-trust/client-trust.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { isKnown } from '../../platform/entity-tag.ts';
import type { SessionIdentity } from '../sessions/sessions.ts';
import type { Contents } from './contents.ts';
import { findFile, listDownloads, type FileRow } from './file-store.ts';
import { toFile, type HostedFile } from './hosted-file.ts';
import { listTag, select, tagOf, type DownloadConditions } from './selection.ts';

/** The response to a download. The receiver of a content must read it to its end or destroy it. */
export interface Download {
  readonly file: HostedFile;
  /** The content's entity tag, with quotes. */
  readonly tag: string;
  /** Undefined if the client already has the content. */
  readonly content: Readable | undefined;
  /** The range of the content, both ends included; undefined for the whole content. */
  readonly range: { readonly start: number; readonly end: number } | undefined;
}

/** The program that sends the request. */
export interface Downloader {
  readonly appId: string;
  /** The live session whose token was sent. */
  readonly session: SessionIdentity | undefined;
  /** Of the request. */
  readonly trust: ClientTrust | undefined;
}

/** Downloads of files. */
export interface Downloads {
  /** @throws ApiError APPLICATION_NOT_FOUND, FILE_NOT_FOUND, RANGE_NOT_SATISFIABLE, SERVICE_UNAVAILABLE */
  download(developerId: string, appId: string, name: string, wishes: DownloadConditions): Promise<Download>;
  /**
   * The files that a program may download, by name.
   * @param ifNoneMatch as sent
   * @returns the entity tag of the list, and the list unless the program already has it
   * @throws ApiError APPLICATION_NOT_FOUND, APPLICATION_INACTIVE; SESSION_INVALID for a session of another application
   */
  available(
    downloader: Downloader,
    ifNoneMatch: string | undefined,
  ): Promise<{ readonly tag: string; readonly files: HostedFile[] | undefined }>;
  /** One of these files. @throws ApiError UNAUTHORIZED if it requires a session, and those of available and download */
  downloadForProgram(downloader: Downloader, name: string, wishes: DownloadConditions): Promise<Download>;
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

  async function open(row: FileRow, wishes: DownloadConditions): Promise<Download> {
    const tag = tagOf(row.sha256);
    const selection = select(row.size, tag, wishes);
    const range = typeof selection === 'object' ? selection : undefined;
    const content = selection === 'unchanged' ? undefined : await contents.open(row.blob_id, range);
    return { file: toFile(row), tag, content, range };
  }

  /** @param find reads the file; it may be replaced, and its old content deleted, before the content is opened */
  async function openLatest(find: () => Promise<FileRow>, wishes: DownloadConditions): Promise<Download> {
    const row = await find();
    try {
      return await open(row, wishes);
    } catch (error) {
      const latest = await find();
      if (latest.blob_id === row.blob_id) throw error;
      return open(latest, wishes);
    }
  }

  /** @throws ApiError UNAUTHORIZED for a file that requires a session */
  async function allowed({ appId, session }: Downloader, name: string): Promise<FileRow> {
    const row = await required(appId, name);
    if (!row.authenticated_only || session) return row;
    throw new ApiError('UNAUTHORIZED', {
      detail: 'The file requires the token of a live session.',
    });
  }

  async function admit({ appId, session, trust }: Downloader): Promise<void> {
    await applications.usable(appId, trust);
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
