import {
  spawn,
  spawnSync,
  type ChildProcess,
  type SpawnOptions,
  type StdioOptions,
} from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, parse } from 'node:path';
import { StartupError } from '../startup-error.ts';
import type { ServerAccount } from './embedded-account.ts';

/** Starts the programs of PostgreSQL under the right account. */
export interface Launcher {
  /** Starts a program outside of the terminal's process group, so that Ctrl-C reaches only Node. */
  launch(program: string, args: readonly string[], stdio: StdioOptions): ChildProcess;
  /** Why the programs run with more privileges than their account has, for the log; undefined if they do not. */
  readonly elevatedBecause: string | undefined;
}

// Privileges to enter folders that are closed to the account. Without no_setuid_fixup, access(2) would ignore them.
const KEEP_ACCESS = [
  '--clear-groups',
  '--securebits=+no_setuid_fixup',
  '--inh-caps=-all,+dac_override',
  '--ambient-caps=-all,+dac_override',
];

/**
 * @param account from {@link chooseServerAccount}; undefined for the caller's own
 * @param postgres the program that must be reachable
 * @param folders existing folders that must be reachable, the data folder first
 * @throws StartupError if the account cannot reach them and cannot be granted the privilege
 */
export function createLauncher(
  account: ServerAccount | undefined,
  postgres: string,
  folders: readonly string[],
): Launcher {
  const common: SpawnOptions = {
    cwd: parse(postgres).root,
    detached: process.platform !== 'win32',
    windowsHide: true,
    // Without this process's environment: it contains secrets, and PG* variables would affect the server.
    ...(process.platform !== 'win32' && {
      env: { LC_ALL: 'C', PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    }),
  };
  if (account === undefined) {
    return {
      elevatedBecause: undefined,
      launch: (program, args, stdio) => spawn(program, args, { ...common, stdio }),
    };
  }

  const blocked = [postgres, ...folders].map((path) => firstClosed(path, account)).find((path) => path);
  if (blocked === undefined) {
    const { uid, gid } = account;
    return {
      elevatedBecause: undefined,
      launch: (program, args, stdio) => spawn(program, args, { ...common, uid, gid, stdio }),
    };
  }

  const setpriv = [`--reuid=${account.uid}`, `--regid=${account.gid}`, ...KEEP_ACCESS];
  const trial = spawnSync('setpriv', [...setpriv, postgres, '--version'], { ...common, stdio: 'ignore' });
  if (trial.status !== 0) {
    throw new StartupError(
      `PostgreSQL cannot run as root, and its account (${account.name}) cannot reach ${blocked}: start ` +
        `Latchkey as the owner of that folder, or put the program and DATA_DIR (${folders[0]}) where others may ` +
        'enter, or set DATABASE_URL.',
    );
  }
  return {
    elevatedBecause: `${account.name} cannot reach ${blocked}`,
    launch: (program, args, stdio) => spawn('setpriv', [...setpriv, program, ...args], { ...common, stdio }),
  };
}

/** The first part of `path` that the account cannot enter, or for a program cannot read and run. */
function firstClosed(path: string, account: ServerAccount): string | undefined {
  const parent = dirname(path);
  if (parent !== path) {
    const closed = firstClosed(parent, account);
    if (closed !== undefined) return closed;
  }
  const stat = statSync(path);
  const granted =
    stat.uid === account.uid ? stat.mode >> 6 : stat.gid === account.gid ? stat.mode >> 3 : stat.mode;
  const needed = stat.isDirectory() ? 0o1 : 0o5;
  return (granted & needed) === needed ? undefined : path;
}
