import { createHash } from 'node:crypto';
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartupError } from '../startup-error.ts';
import type { ServerAccount } from './embedded-account.ts';

// The shortest limit of a socket's path is 103 bytes (macOS); "/.s.PGSQL.5432.lock" and the folder's name use 40.
const LONGEST_PARENT = 60;

/**
 * Creates the empty folder for the server's Unix socket. The path of a data folder may be too long for a socket (107
 * bytes), so it is in the system's temporary folder, accessible only to the server's account.
 *
 * @param dataDir the real path of the data folder; the name of the folder follows from it and the account
 * @throws StartupError if another account owns a folder of that name
 */
export function prepareSocketFolder(dataDir: string, account: ServerAccount | undefined): string {
  const parent = Buffer.byteLength(tmpdir()) <= LONGEST_PARENT ? tmpdir() : '/tmp';
  const owner = account?.uid ?? process.getuid?.();
  const name = createHash('sha256').update(`${owner} ${dataDir}`).digest('hex').slice(0, 16);
  const folder = join(parent, `latchkey-${name}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stat = lstatSync(folder);
  const trusted = [process.getuid?.(), account?.uid];
  if (!stat.isDirectory() || !trusted.includes(stat.uid)) {
    throw new StartupError(
      `The folder ${folder} for the database's socket belongs to another account (uid ${stat.uid}): remove it, ` +
        'or set TMPDIR to a folder of your own.',
    );
  }
  chmodSync(folder, 0o700);
  if (account !== undefined) chownSync(folder, account.uid, account.gid);
  // The socket of a killed server blocks the next one if its process id is in use again.
  for (const left of readdirSync(folder)) rmSync(join(folder, left), { force: true });
  return folder;
}
