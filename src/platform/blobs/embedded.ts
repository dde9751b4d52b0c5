import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blobs } from './blobs.ts';
import { withContentErrors } from './content-errors.ts';
import { BlobsUnavailableError } from './errors.ts';

/** The disk or the account's quota is full. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Stores blobs as files in a folder, with the keys as names. */
export function openEmbeddedBlobs(folder: string): Blobs {
  return {
    embedded: true,

    put: (key, content) =>
      withContentErrors(content, toUnavailable, async (source) => {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeFile(join(folder, key), source, { mode: 0o600, flush: true });
        await syncFolder(folder);
      }),

    async open(key, range) {
      const stream = createReadStream(join(folder, key), range);
      try {
        await once(stream, 'open');
        return stream;
      } catch (error) {
        throw toUnavailable(error);
      }
    },

    delete: (key) =>
      rm(join(folder, key), { force: true }).catch((error: unknown) => Promise.reject(toUnavailable(error))),

    close: () => {},
  };
}

/** Makes a new file of the folder survive a power loss. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function toUnavailable(error: unknown): BlobsUnavailableError {
  const { code = '' } = error as NodeJS.ErrnoException;
  return new BlobsUnavailableError(error, { full: FULL.has(code) });
}
