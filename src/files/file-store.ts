import type { Knex } from 'knex';
import { lockExclusive } from '../platform/database/advisory-lock.ts';

export interface FileRow {
  readonly file_id: string;
  readonly app_id: string;
  readonly name: string;
  readonly version: string | null;
  readonly authenticated_only: boolean;
  readonly size: number;
  readonly sha256: Buffer;
  readonly blob_id: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Waits for other changes of the application's files, and keeps them out until the transaction ends. */
export async function lockFiles(trx: Knex.Transaction, appId: string): Promise<void> {
  await lockExclusive(trx, `files:${appId}`);
}

/**
 * Waits for uploads to the developer's other applications, and keeps them out until the transaction ends. Whoever needs the
 * lock of an application's files too takes that one first.
 */
export async function lockFilesOfDeveloper(trx: Knex.Transaction, developerId: string): Promise<void> {
  await lockExclusive(trx, `developer-files:${developerId}`);
}

/** @returns how many bytes all files of the developer's applications have */
export async function sumSizes(db: Knex, developerId: string): Promise<number> {
  const [row] = await db('files')
    .join('applications', 'applications.app_id', 'files.app_id')
    .where({ developer_id: developerId, deleted_at: null })
    .select<[{ bytes: number }]>(db.raw('coalesce(sum(size), 0)::bigint as bytes'));
  return row!.bytes;
}

export async function findFile(db: Knex, appId: string, name: string): Promise<FileRow | undefined> {
  return db<FileRow>('files').where({ app_id: appId, name }).first();
}

export async function countFiles(trx: Knex.Transaction, appId: string): Promise<number> {
  const [row] = await trx('files')
    .where({ app_id: appId })
    .select<[{ files: number }]>(trx.raw('count(*)::integer as files'));
  return row!.files;
}

/** Newest first; ids sort by time of creation. */
export async function listFiles(
  db: Knex,
  appId: string,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<FileRow[]> {
  const query = db<FileRow>('files').where({ app_id: appId }).orderBy('file_id', 'desc').limit(page.limit);
  return page.before === undefined ? query : query.where('file_id', '<', page.before);
}

/** By name. @param everything also those for authenticated users only */
export async function listDownloads(db: Knex, appId: string, everything: boolean): Promise<FileRow[]> {
  const query = db<FileRow>('files').where({ app_id: appId }).orderBy('name');
  return everything ? query : query.where({ authenticated_only: false });
}

export async function insertFile(trx: Knex.Transaction, row: FileRow): Promise<void> {
  await trx('files').insert(row);
}

export async function updateFile(
  trx: Knex.Transaction,
  fileId: string,
  changes: Partial<FileRow>,
): Promise<void> {
  await trx('files').where({ file_id: fileId }).update(changes);
}

export async function deleteFile(trx: Knex.Transaction, fileId: string): Promise<void> {
  await trx('files').where({ file_id: fileId }).delete();
}

/** Deletes some files of an application. @returns their contents' ids */
export async function deleteFilesOfApplication(
  trx: Knex.Transaction,
  appId: string,
  limit: number,
): Promise<string[]> {
  const some = trx('files').where({ app_id: appId }).limit(limit).select('file_id');
  const rows = await trx('files').whereIn('file_id', some).delete(['blob_id']);
  return (rows as Pick<FileRow, 'blob_id'>[]).map((row) => row.blob_id);
}

/** Notes a content before the blob store gets it. */
export async function insertBlob(db: Knex, blobId: string, clearAfter: Date): Promise<void> {
  await db('blobs').insert({ blob_id: blobId, clear_after: clearAfter });
}

/** Says from when on contents that are no longer a file's may be cleared away. */
export async function releaseBlobs(
  trx: Knex.Transaction,
  blobIds: readonly string[],
  clearAfter: Date,
): Promise<void> {
  await trx('blobs')
    .whereIn('blob_id', blobIds as string[])
    .update({ clear_after: clearAfter });
}

/**
 * Keeps a content that is being uploaded for longer.
 * @param from until when it was kept so far
 * @param to until when from now on; null for as long as a file has it
 * @returns false when it was given up in the meantime
 */
export async function keepBlob(db: Knex, blobId: string, from: Date, to: Date | null): Promise<boolean> {
  const kept = await db('blobs').where({ blob_id: blobId, clear_after: from }).update({ clear_after: to });
  return kept === 1;
}

/**
 * Takes some contents that nobody needs, so that nobody else clears them until then.
 * @returns their ids
 */
export async function takeNeedless(db: Knex, now: Date, until: Date, limit: number): Promise<string[]> {
  const some = db('blobs')
    .where('clear_after', '<=', now)
    .orderBy('clear_after')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .select('blob_id');
  const rows = await db('blobs').whereIn('blob_id', some).update({ clear_after: until }, ['blob_id']);
  return (rows as Pick<FileRow, 'blob_id'>[]).map((row) => row.blob_id);
}

export async function deleteBlob(db: Knex, blobId: string): Promise<void> {
  await db('blobs').where({ blob_id: blobId }).delete();
}
