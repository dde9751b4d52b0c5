import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Random } from './random.ts';
import { StartupError } from './startup-error.ts';

const MASTER_KEY_BYTES = 32;

/** @returns the key; undefined for what is not 32 bytes in base64 */
export function decodeMasterKey(text: string): Buffer | undefined {
  const key = Buffer.from(text.trim(), 'base64');
  return key.length === MASTER_KEY_BYTES && key.toString('base64') === text.trim() ? key : undefined;
}

/**
 * The master key of an installation that was given none: made once, kept in `master.key`, readable by its owner only.
 * @param dataDir the data folder; made if it does not exist
 * @param mayCreate false when there is data already: then a key that is not there was lost
 * @throws StartupError when the file is lost, cannot be read, or does not hold a key
 */
export async function loadOrCreateMasterKey(
  dataDir: string,
  random: Random,
  mayCreate: boolean,
): Promise<Buffer> {
  const file = join(dataDir, 'master.key');
  const present = await read(file);
  if (present === undefined && !mayCreate) {
    throw new StartupError(
      `${file} is missing, but the database was written under a master key: restore it or set MASTER_KEY`,
    );
  }
  const key = decodeMasterKey(present ?? (await create(file, dataDir, random)));
  if (!key) throw new StartupError(`${file} does not hold 32 bytes in base64: restore it or set MASTER_KEY`);
  return key;
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new StartupError(`${file} cannot be read (${code}): check DATA_DIR`);
  }
}

/** Written aside and linked into place: a kill leaves no half a key, and of two starts at once both read the same one. */
async function create(file: string, dataDir: string, random: Random): Promise<string> {
  const draft = `${file}.${random.bytes(8).toString('hex')}`;
  try {
    await mkdir(dataDir, { recursive: true });
    const handle = await open(draft, 'wx', 0o600);
    await handle.writeFile(`${random.bytes(MASTER_KEY_BYTES).toString('base64')}\n`);
    await handle.sync();
    await handle.close();
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new StartupError(
      `${file} cannot be written (${(error as NodeJS.ErrnoException).code}): check DATA_DIR`,
    );
  } finally {
    await rm(draft, { force: true });
  }
}
