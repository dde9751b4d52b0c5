import { readFileSync, statSync } from 'node:fs';
import { StartupError } from '../startup-error.ts';

/** The system account of the PostgreSQL server. */
export interface ServerAccount {
  name: string;
  uid: number;
  gid: number;
}

/**
 * Chooses the account for the server. PostgreSQL refuses to run as root, so root uses the owner of the existing
 * database, otherwise `nobody`, otherwise any other account (initdb requires one that the system knows).
 *
 * @param databaseDir the folder of the database; it does not have to exist
 * @param passwdFile only for tests
 * @returns undefined if the caller is not root: the server then runs under the caller's account
 * @throws StartupError if root finds no other account
 */
export function chooseServerAccount(
  databaseDir: string,
  passwdFile = '/etc/passwd',
): ServerAccount | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(databaseDir, { throwIfNoEntry: false });
  if (owner !== undefined && owner.uid !== 0)
    return { name: `uid ${owner.uid}`, uid: owner.uid, gid: owner.gid };
  const accounts = readAccounts(passwdFile).filter((account) => account.uid !== 0);
  const chosen = accounts.find((account) => account.name === 'nobody') ?? accounts[0];
  if (chosen === undefined) {
    throw new StartupError(
      `PostgreSQL refuses to run as root and ${passwdFile} has no other account: start Latchkey as another ` +
        'user, or set DATABASE_URL.',
    );
  }
  return chosen;
}

function readAccounts(passwdFile: string): ServerAccount[] {
  let text = '';
  try {
    text = readFileSync(passwdFile, 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}
