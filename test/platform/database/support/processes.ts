import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Holder {
  child: ChildProcess;
  response: { ms?: number; error?: string; message?: string };
  ended: Promise<void>;
}

/** Opens the database of a data folder in a separate process, from this source folder or a copy of it. */
export async function holdDatabase(
  dataDir: string,
  source = join(import.meta.dirname, '../../../../src'),
): Promise<Holder> {
  const script = join(source, '../test/platform/database/support/hold-database.ts');
  const child = spawn(process.execPath, [script, source, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  for await (const line of createInterface({ input: child.stdout! }))
    return { child, ended, response: JSON.parse(line) as Holder['response'] };
  throw new Error('the process ended without a response');
}

export function temporaryFolder(parent = tmpdir()): string {
  return realpathSync(mkdtempSync(join(parent, 'latchkey-test-')));
}

export function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** The process ids of the server on a data folder, the postmaster first. */
export function serverProcesses(dataDir: string): number[] {
  const postmaster = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
  return [postmaster, ...children.trim().split(' ').filter(Boolean).map(Number)];
}

/**
 * Pauses the server on a data folder and all its processes.
 * @returns resumes them
 */
export function stopServer(dataDir: string): () => void {
  const [postmaster] = serverProcesses(dataDir);
  // The postmaster first, or it would start new processes.
  process.kill(postmaster!, 'SIGSTOP');
  const stopped = serverProcesses(dataDir);
  for (const pid of stopped) signalIfThere(pid, 'SIGSTOP');
  return () => {
    for (const pid of stopped.splice(0)) signalIfThere(pid, 'SIGCONT');
  };
}

/** A server's child may have ended since it was listed. */
function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Repeats work until it succeeds. @returns how many milliseconds that took */
export async function eventually(work: () => Promise<unknown>, withinMs: number): Promise<number> {
  const began = performance.now();
  for (;;) {
    try {
      await work();
      return performance.now() - began;
    } catch (error) {
      if (performance.now() - began > withinMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
