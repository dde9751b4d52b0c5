import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inject, onTestFinished } from 'vitest';
import { START_FLAGS } from '../../tools/start-flags.ts';
import { Api } from './api.ts';

/**
 * Registers clean-up: `onTestFinished` in a test, `atFileEnd`, or `afterAll` outside of tests and hooks.
 */
export type AtEnd = (cleanUp: () => Promise<void>) => void;

export interface ServiceProcess {
  readonly api: Api;
  readonly child: ChildProcess;
  /** Standard output and standard error so far. */
  output(): { readonly stdout: string; readonly stderr: string };
  /** Ends it. @returns its exit code, or null if the signal ended it */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/**
 * Runs the service in another process, like `npm start`. It is killed at the latest at the end of the test.
 * @param environment its settings: nothing is inherited except PATH, HOME and TMPDIR
 * @throws Error with its output if it ends before it listens
 */
export async function spawnService(
  environment: Record<string, string>,
  atEnd: AtEnd = onTestFinished,
): Promise<ServiceProcess> {
  const process_ = spawnProgram(environment);
  const { child } = process_;
  atEnd(async () => void (await process_.end('SIGKILL')));
  const listening = new Promise<string>((resolve, reject) => {
    child.stdout!.on('data', () => {
      const address = /^listening on (.*)$/m.exec(process_.output().stdout)?.[1];
      if (address) resolve(address);
    });
    child.once('exit', (code) => reject(new Error(`exit ${code}: ${process_.output().stderr}`)));
  });
  return { ...process_, api: new Api(await listening) };
}

/**
 * Runs the service, or another program of ours, and waits until it exits. A program that starts to listen, or runs for
 * 20 s, is killed and has the exit code null.
 */
export async function runToEnd(
  environment: Record<string, string>,
  script?: string,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { child, output } = spawnProgram(environment, script);
  const tooLong = setTimeout(() => child.kill('SIGKILL'), 20_000);
  child.stdout!.on('data', () => {
    if (/^listening on /m.test(output().stdout)) child.kill('SIGKILL');
  });
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(tooLong);
  return { code, ...output() };
}

/** Starts the service, or another program of ours, without waiting for it. The caller ends it. */
export function spawnProgram(
  environment: Record<string, string>,
  script = 'src/main.ts',
): Omit<ServiceProcess, 'api'> {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  const child = spawn(process.execPath, [...START_FLAGS, script], {
    cwd: new URL('../..', import.meta.url),
    env: {
      PATH,
      HOME,
      ...(TMPDIR && { TMPDIR }),
      NODE_COMPILE_CACHE: inject('compiled'),
      PORT: '0',
      RATE_LIMIT: '1000000/60',
      ...environment,
    },
    // A separate process group, so that a test can interrupt it like a terminal.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const closed = once(child, 'close');
  return {
    child,
    output: () => ({ stdout, stderr }),
    async end(signal) {
      child.kill(signal);
      await closed;
      return child.exitCode;
    },
  };
}

/** A folder that is deleted at the end of the test. */
export async function temporaryFolder(atEnd: AtEnd = onTestFinished): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-test-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * A path for `DATA_DIR` that does not exist yet. It is deleted at the end of the test, after the database server that a
 * killed service left behind has ended.
 */
export async function temporaryDataDir(atEnd: AtEnd = onTestFinished): Promise<string> {
  const dataDir = join(await temporaryFolder(atEnd), 'data');
  atEnd(async () => {
    const pid = await postmasterOf(dataDir);
    for (let waited = 0; pid !== undefined && waited < 5_000 && isAlive(pid); waited += 20) {
      if (waited === 0) process.kill(pid, 'SIGQUIT');
      await delay(20);
    }
  });
  return dataDir;
}

/** The process id of the embedded database server in a data folder, or undefined. */
export async function postmasterOf(dataDir: string): Promise<number | undefined> {
  const note = await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8').catch(() => undefined);
  if (note === undefined) return undefined;
  const pid = Number(note.split('\n')[0]);
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return commandLine.includes(dataDir) ? pid : undefined;
}

/** The URL of the embedded database of a running service, for `DATABASE_URL`. */
export async function embeddedDatabaseUrl(dataDir: string): Promise<string> {
  const lines = (await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n');
  return `postgresql:///latchkey?${new URLSearchParams({ host: lines[4]!, port: lines[3]!, user: 'latchkey' })}`;
}

/** Whether a process is running. One that has ended does not count, even if its status was not collected. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
