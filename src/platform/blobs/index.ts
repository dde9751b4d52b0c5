import type { Blobs } from './blobs.ts';
import { openEmbeddedBlobs } from './embedded.ts';

export type { Blobs, ByteRange } from './blobs.ts';
export { BlobsUnavailableError } from './errors.ts';

/**
 * Opens the blob store: an S3-compatible one by its address, else a folder. Neither is asked for anything yet: the service
 * starts without it.
 * @param options.filesUrl `s3://…`; undefined for the folder
 * @param options.folder made when the first content comes
 * @throws StartupError when the address is not one of an S3 store
 */
export async function openBlobs(options: { filesUrl: string | undefined; folder: string }): Promise<Blobs> {
  const { filesUrl, folder } = options;
  if (filesUrl === undefined) return openEmbeddedBlobs(folder);
  // Loaded only where it is needed: it is as large as the rest of the service.
  const { openServerBlobs } = await import('./server.ts');
  return openServerBlobs(filesUrl);
}
