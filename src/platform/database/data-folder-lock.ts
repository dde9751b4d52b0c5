import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartupError } from '../startup-error.ts';

const SQLITE_BUSY = 5;

/** Another running process uses the data folder. */
export class DataFolderInUseError extends StartupError {
  override name = 'DataFolderInUseError';

  constructor(dataDir: string) {
    super(
      `The data folder ${dataDir} is in use by another process of Latchkey: stop that process, or set DATA_DIR ` +
        'to another folder.',
    );
  }
}

export interface DataFolderLock {
  /** Releases the folder; further calls have no effect. */
  release(): void;
}

/**
 * Takes the exclusive lock on a data folder, or fails at once. It uses SQLite's file lock, because the kernel
 * releases it with the process, so that a restart after `kill -9` neither waits nor guesses. Nothing is ever written
 * to the file.
 *
 * @param dataDir an existing folder
 * @throws DataFolderInUseError if another running process holds the lock, or this process does already
 * @throws StartupError if the lock file cannot be created
 */
export function lockDataFolder(dataDir: string): DataFolderLock {
  let file: DatabaseSync | undefined;
  try {
    file = new DatabaseSync(join(dataDir, 'latchkey.lock'), { timeout: 0 });
    file.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    file?.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) throw new DataFolderInUseError(dataDir);
    throw new StartupError(
      `Cannot lock the data folder ${dataDir}: ${(error as Error).message}; check that DATA_DIR is writable ` +
        'and has free space.',
      { cause: error },
    );
  }
  const held = file;
  return {
    release: () => {
      if (held.isOpen) held.close();
    },
  };
}
