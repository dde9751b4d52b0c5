import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { readPostmasterFile } from './postmaster-file.ts';

// Fast, immediate, and the last resort, each with its timeout in milliseconds.
const STEPS = [
  ['SIGINT', 1_000],
  ['SIGQUIT', 3_000],
  ['SIGKILL', 3_000],
] as const;

/**
 * Stops a server that a killed process of the service left running on this folder. The caller holds the lock of the
 * data folder, so no other process uses it.
 *
 * @param pgCtl the program that stops a server on systems without signals (Windows)
 */
export async function stopOrphan(databaseDir: string, pgCtl: string, logger: Logger): Promise<void> {
  const note = readPostmasterFile(databaseDir);
  if (note === undefined) return;
  if (process.platform === 'win32') {
    spawnSync(pgCtl, ['stop', '-D', databaseDir, '-m', 'fast', '-t', '5'], { windowsHide: true });
    return;
  }
  for (const [signal, patience] of STEPS) {
    if (!isServerOf(note.pid, databaseDir)) break;
    logger.info({ pid: note.pid, signal }, 'stopping the database server of a killed process');
    try {
      process.kill(note.pid, signal);
    } catch {
      break;
    }
    for (let waited = 0; waited < patience && isServerOf(note.pid, databaseDir); waited += 10)
      await sleep(10);
  }

  // The process id in the file may belong to another process by now, and PostgreSQL would then refuse to start. Our own
  // id, that of its parent, marks the file as stale; PostgreSQL still detects survivors by their shared memory.
  const left = readPostmasterFile(databaseDir);
  if (left !== undefined) writeFileSync(left.path, [String(process.pid), ...left.lines.slice(1)].join('\n'));
}

function isServerOf(pid: number, databaseDir: string): boolean {
  const words = commandLine(pid);
  return words.includes('postgres') && words.includes(databaseDir);
}

/** Empty for a process that has ended, even if its status was not collected yet. */
function commandLine(pid: number): string {
  if (process.platform !== 'linux') {
    return spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
