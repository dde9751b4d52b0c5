import type { Blobs } from './blobs.ts';
import { openEmbeddedBlobs } from './embedded.ts';

export type { Blobs, ByteRange } from './blobs.ts';
export { BlobsUnavailableError } from './errors.ts';

/**
 * Opens the blob store: an S3-compatible one by its address, else a folder. Uses neither yet, so the service starts
 * even if they are unavailable.
 * @param options.filesUrl `s3://…`; undefined for the folder
 * @param options.folder created with the first content
 * @throws StartupError if the address is not valid
 */
export async function openBlobs(options: { filesUrl: string | undefined; folder: string }): Promise<Blobs> {
  const { filesUrl, folder } = options;
  if (filesUrl === undefined) return openEmbeddedBlobs(folder);
  // Loaded only when needed because it is as large as the rest of the service.
  const { openServerBlobs } = await import('./server.ts');
  return openServerBlobs(filesUrl);
}
