import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { readPostmasterFile } from './postmaster-file.ts';

// Fast, immediate, and the last resort: each with the milliseconds it is given.
const STEPS = [
  ['SIGINT', 1_000],
  ['SIGQUIT', 3_000],
  ['SIGKILL', 3_000],
] as const;

/**
 * Stops a server that a killed Latchkey left on this folder. Whoever calls holds the data folder's lock: nobody else
 * can be using it.
 *
 * @param pgCtl the program that stops a server where there are no signals (Windows)
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
    logger.info({ pid: note.pid, signal }, 'stopping the database server of a killed Latchkey');
    try {
      process.kill(note.pid, signal);
    } catch {
      break;
    }
    for (let waited = 0; waited < patience && isServerOf(note.pid, databaseDir); waited += 10)
      await sleep(10);
  }

  // The noted number may by now be another process's, and PostgreSQL would then refuse to start. Our own number, that of
  // its parent, tells it that the note is stale, and it still looks for survivors by their shared memory.
  const left = readPostmasterFile(databaseDir);
  if (left !== undefined) writeFileSync(left.path, [String(process.pid), ...left.lines.slice(1)].join('\n'));
}

function isServerOf(pid: number, databaseDir: string): boolean {
  const words = commandLine(pid);
  return words.includes('postgres') && words.includes(databaseDir);
}

/** Empty for a process that has ended, also while nobody has collected its status. */
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
