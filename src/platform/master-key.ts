import type { Random } from './random.ts';
import { secretFile } from './secret-file.ts';
import { StartupError } from './startup-error.ts';

const MASTER_KEY_BYTES = 32;

/** @returns the key; undefined if the text is not 32 bytes in base64 */
export function decodeMasterKey(text: string): Buffer | undefined {
  const key = Buffer.from(text.trim(), 'base64');
  return key.length === MASTER_KEY_BYTES && key.toString('base64') === text.trim() ? key : undefined;
}

/**
 * The master key of an installation without MASTER_KEY: generated once and kept in `master.key`, which only its owner
 * can read.
 * @param dataDir the data folder; created if it does not exist
 * @param mayCreate false if data exists already: a missing file then means that the key was lost
 * @throws StartupError if the file is missing, cannot be read, or does not contain a key
 */
export async function loadOrCreateMasterKey(
  dataDir: string,
  random: Random,
  mayCreate: boolean,
): Promise<Buffer> {
  const file = secretFile(dataDir, 'master.key', random);
  const present = await file.read();
  if (present === undefined && !mayCreate) {
    throw new StartupError(
      `${file.path} is missing, but the database was encrypted with a master key: restore the file or set MASTER_KEY`,
    );
  }
  const key = decodeMasterKey(
    present ?? (await file.create(random.bytes(MASTER_KEY_BYTES).toString('base64'))),
  );
  if (!key) {
    throw new StartupError(`${file.path} does not hold 32 bytes in base64: restore it or set MASTER_KEY`);
  }
  return key;
}
