import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blobs } from './blobs.ts';
import { withContentErrors } from './content-errors.ts';
import { BlobsUnavailableError } from './errors.ts';

/** The disk, or the account's share of it, has no room left. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Blobs as files of one folder, whose names are the keys. */
export function openEmbeddedBlobs(folder: string): Blobs {
  return {
    embedded: true,

    put: (key, content) =>
      withContentErrors(content, toUnavailable, async (source) => {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeFile(join(folder, key), source, { mode: 0o600, flush: true });
        await listToDisk(folder);
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

/** Returns when the list of a folder's files is on the disk and not only on its way there. */
async function listToDisk(folder: string): Promise<void> {
  const list = await open(folder, 'r');
  try {
    await list.sync();
  } finally {
    await list.close();
  }
}

function toUnavailable(error: unknown): BlobsUnavailableError {
  const { code = '' } = error as NodeJS.ErrnoException;
  return new BlobsUnavailableError(error, { full: FULL.has(code) });
}
