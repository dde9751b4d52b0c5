import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Random } from './random.ts';
import { StartupError } from './startup-error.ts';

/** A generated secret of an installation: a file in the data folder that only its owner can read. */
export interface SecretFile {
  /** Its path, for messages. */
  readonly path: string;
  /** @returns undefined if the file does not exist @throws StartupError if it cannot be read */
  read(): Promise<string | undefined>;
  /**
   * Writes the secret, unless another process has written one meanwhile. @returns the secret in the file
   * @throws StartupError if the file cannot be written
   */
  create(secret: string): Promise<string>;
}

/** @param dataDir the data folder; made if it does not exist */
export function secretFile(dataDir: string, name: string, random: Random): SecretFile {
  const path = join(dataDir, name);
  return {
    path,

    async read() {
      try {
        return await readFile(path, 'utf8');
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ENOENT') return undefined;
        throw new StartupError(`${path} cannot be read (${code}): check DATA_DIR`);
      }
    },

    // Written to a draft and linked into place: a kill leaves no partial secret, and concurrent starts read the same
    // one.
    async create(secret) {
      const draft = `${path}.${random.bytes(8).toString('hex')}`;
      try {
        await mkdir(dataDir, { recursive: true });
        const handle = await open(draft, 'wx', 0o600);
        await handle.writeFile(`${secret}\n`);
        await handle.sync();
        await handle.close();
        await link(draft, path).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST') throw error;
        });
        return await readFile(path, 'utf8');
      } catch (error) {
        throw new StartupError(
          `${path} cannot be written (${(error as NodeJS.ErrnoException).code}): check DATA_DIR`,
        );
      } finally {
        await rm(draft, { force: true });
      }
    },
  };
}
