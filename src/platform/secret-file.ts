import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Random } from './random.ts';
import { StartupError } from './startup-error.ts';

/** A secret of an installation that was given none: a file in the data folder that its owner alone can read. */
export interface SecretFile {
  /** Its path, for messages. */
  readonly path: string;
  /** @returns undefined when there is none @throws StartupError when it cannot be read */
  read(): Promise<string | undefined>;
  /**
   * Makes the secret, unless somebody else has made it meanwhile. @returns the one that is there now
   * @throws StartupError when it cannot be written
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

    // Written aside and linked into place: a kill leaves no half a secret, and of two starts at once both read the same one.
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
