import { createHash } from 'node:crypto';
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartupError } from '../startup-error.ts';
import type { ServerAccount } from './embedded-account.ts';

// The shortest limit of a socket's path is 103 bytes (macOS); "/.s.PGSQL.5432.lock" and our own name take 40.
const LONGEST_PARENT = 60;

/**
 * Makes the empty folder for the server's Unix socket. A data folder may lie too deep for a socket's path (107 bytes),
 * so it is a short one in the system's temporary folder, closed to everybody but the server's account.
 *
 * @param dataDir the real path of the data folder; it names the socket's, together with the account
 * @throws StartupError when somebody else owns a folder of that name
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
      `The folder ${folder} for the database's socket belongs to somebody else (uid ${stat.uid}): remove it, or set TMPDIR to a folder of your own.`,
    );
  }
  chmodSync(folder, 0o700);
  if (account !== undefined) chownSync(folder, account.uid, account.gid);
  // A socket of a killed server is in the way of the next one when its process id is in use again.
  for (const left of readdirSync(folder)) rmSync(join(folder, left), { force: true });
  return folder;
}
