import type { FileRow } from './file-store.ts';

/** The metadata of a file. */
export interface HostedFile {
  readonly fileId: string;
  /** Exactly as given. */
  readonly name: string;
  readonly version: string | null;
  /** Whether a download requires the token of a live session. */
  readonly authenticatedOnly: boolean;
  /** In bytes. */
  readonly size: number;
  /** SHA-256 of the content in lower-case hexadecimal. */
  readonly sha256: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The metadata from a row. */
export function toFile(row: FileRow): HostedFile {
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
