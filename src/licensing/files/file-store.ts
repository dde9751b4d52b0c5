import type { Knex } from 'knex';
import { takeAdvisoryLock } from '../../platform/database/advisory-lock.ts';

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

/** Locks the files of the application against other changes until the transaction ends. */
export async function lockFilesForUpdate(trx: Knex.Transaction, appId: string): Promise<void> {
  await takeAdvisoryLock(trx, `files:${appId}`);
}

/**
 * Locks the developer's files in all applications against uploads until the transaction ends. If the lock of one
 * application's files is needed as well, it must be taken first.
 */
export async function lockFilesOfDeveloperForUpdate(
  trx: Knex.Transaction,
  developerId: string,
): Promise<void> {
  await takeAdvisoryLock(trx, `developer-files:${developerId}`);
}

/** @returns the total size of all files of some applications, in bytes */
export async function sumSizes(db: Knex, appIds: readonly string[]): Promise<number> {
  const [row] = await db('files')
    .whereRaw('app_id = any(?::text[])', [[...appIds]])
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

/** By name. @param everything includes files for authenticated users only */
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

/** Deletes a batch of files of an application. @returns their contents' ids */
export async function deleteFilesOfApplication(
  trx: Knex.Transaction,
  appId: string,
  limit: number,
): Promise<string[]> {
  const some = trx('files').where({ app_id: appId }).limit(limit).select('file_id');
  const rows = await trx('files').whereIn('file_id', some).delete(['blob_id']);
  return (rows as Pick<FileRow, 'blob_id'>[]).map((row) => row.blob_id);
}

/** Records a content before it is stored. */
export async function insertBlob(db: Knex, blobId: string, clearAfter: Date): Promise<void> {
  await db('blobs').insert({ blob_id: blobId, clear_after: clearAfter });
}

/** Sets the time from which contents without a file may be deleted. */
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
 * Extends the time for which a content is kept.
 * @param from its current end
 * @param to its new end; null for a content that belongs to a file
 * @returns false if the content expired in the meantime
 */
export async function keepBlob(db: Knex, blobId: string, from: Date, to: Date | null): Promise<boolean> {
  const kept = await db('blobs').where({ blob_id: blobId, clear_after: from }).update({ clear_after: to });
  return kept === 1;
}

/**
 * Claims a batch of unused contents, so that no other node deletes them until the given time.
 * @returns their ids
 */
export async function takeUnneeded(db: Knex, now: Date, until: Date, limit: number): Promise<string[]> {
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
