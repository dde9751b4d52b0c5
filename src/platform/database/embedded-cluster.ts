import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { StartupError } from '../startup-error.ts';
import type { ServerAccount } from './embedded-account.ts';
import type { Launcher } from './embedded-launcher.ts';
import { mostInformativeLine } from './embedded-log.ts';

/** The name of the superuser and of the database. */
export const DATABASE_NAME = 'latchkey';

const UNFINISHED = 'postgres.new-';

/**
 * Creates the database's files unless they exist. They are created in a draft folder, which is renamed when complete,
 * so that a kill in between leaves only a folder that the next start removes.
 *
 * @param options.dataDir the data folder, which the caller has locked
 * @param options.databaseDir the folder for them, directly in `dataDir`
 * @param options.durable false skips the flush to disk, for tests
 * @param options.passwordFile holds the superuser's password; undefined if the permissions of the socket's folder
 *   protect it
 * @throws StartupError if initdb fails
 */
export async function ensureCluster(options: {
  dataDir: string;
  databaseDir: string;
  initdb: string;
  launcher: Launcher;
  account: ServerAccount | undefined;
  durable: boolean;
  passwordFile: string | undefined;
}): Promise<void> {
  const { dataDir, databaseDir, account } = options;
  removeUnfinished(dataDir);
  if (existsSync(databaseDir)) {
    adoptFiles(databaseDir, account);
    return;
  }

  const unfinished = join(dataDir, UNFINISHED + randomBytes(6).toString('hex'));
  mkdirSync(unfinished, { mode: 0o700 });
  if (account !== undefined) chownSync(unfinished, account.uid, account.gid);
  const child = options.launcher.launch(
    options.initdb,
    [
      `--pgdata=${unfinished}`,
      `--username=${DATABASE_NAME}`,
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      ...(options.passwordFile === undefined
        ? ['--auth=trust']
        : ['--auth=scram-sha-256', `--pwfile=${options.passwordFile}`]),
      ...(options.durable ? [] : ['--no-sync']),
    ],
    ['ignore', 'ignore', 'pipe'],
  );
  const [code, messages] = await Promise.all([
    new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve)),
    text(child.stderr!),
  ]).catch((error: Error) => [-1, error.message] as const);
  if (code !== 0) {
    removeUnfinished(dataDir);
    const remedy = /look up effective user/.test(messages)
      ? '; start Latchkey under an account of /etc/passwd, or set DATABASE_URL'
      : '';
    throw new StartupError(
      `Cannot create the database in DATA_DIR (${dataDir}): ${mostInformativeLine(messages)}${remedy}`,
    );
  }
  renameSync(unfinished, databaseDir);
  if (options.durable) flushFolder(dataDir);
}

function removeUnfinished(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (!name.startsWith(UNFINISHED)) continue;
    try {
      rmSync(join(dataDir, name), { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // An initdb that outlived its parent may still write there; the next start tries again.
    }
  }
}

/** Changes the owner of files that root restored from a backup. */
function adoptFiles(databaseDir: string, account: ServerAccount | undefined): void {
  const owner = lstatSync(databaseDir).uid;
  const wanted = account?.uid ?? process.getuid?.() ?? owner;
  if (owner === wanted) return;
  if (account === undefined) {
    throw new StartupError(
      `The database in ${databaseDir} belongs to uid ${owner}: run chown -R on it, start Latchkey as that ` +
        'account, or set DATA_DIR to another folder.',
    );
  }
  // The folder itself last, because the next start checks its owner if this one is killed.
  for (const entry of readdirSync(databaseDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) chownSync(join(entry.parentPath, entry.name), account.uid, account.gid);
  }
  chownSync(databaseDir, account.uid, account.gid);
}

function flushFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
