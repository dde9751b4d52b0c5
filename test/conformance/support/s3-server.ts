import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { atFileEnd } from '../../support/at-file-end.ts';
import { freePort } from '../../support/free-port.ts';

const run = promisify(execFile);
const PACKAGE = 'moto[s3,server]==5.2.5';
/** Kept between runs, because it takes longer to install than to test. */
const ENVIRONMENT = join(tmpdir(), 'latchkey-moto-5.2.5');
const INSTALL_WITHIN_MS = 180_000;

export const BUCKET = 'latchkey-test';

/** An S3-compatible server in another process, with an empty bucket. */
export interface S3Server {
  readonly port: number;
  /** Queries it directly, without our code. */
  request(method: string, path: string): Promise<{ readonly status: number; readonly text: string }>;
  /** Suspends it, like a store that hangs. */
  signal(signal: NodeJS.Signals): void;
}

/** The program of the server: an installed one, or one that is installed here. @returns undefined if unavailable */
async function findProgram(): Promise<string | undefined> {
  for (const program of ['moto_server', join(ENVIRONMENT, 'bin/moto_server')]) {
    if (await works(program)) return program;
  }
  try {
    await run('python3', ['-m', 'venv', ENVIRONMENT], { timeout: INSTALL_WITHIN_MS });
    await run(join(ENVIRONMENT, 'bin/pip'), ['install', '-q', PACKAGE], { timeout: INSTALL_WITHIN_MS });
    return join(ENVIRONMENT, 'bin/moto_server');
  } catch {
    return undefined;
  }
}

async function works(program: string): Promise<boolean> {
  return run(program, ['--help']).then(
    () => true,
    () => false,
  );
}

/** Starts a server that ends with the calling test file. @returns undefined if unavailable */
export async function startS3(): Promise<S3Server | undefined> {
  const program = await findProgram();
  if (program === undefined) return undefined;
  const port = await freePort();
  const child = spawn(program, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  const closed = once(child, 'close');
  atFileEnd(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  const request = async (method: string, path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    return { status: response.status, text: await response.text() };
  };
  const created = () =>
    request('PUT', `/${BUCKET}`).then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await created())) {
    if (child.exitCode !== null) return undefined;
    await delay(50);
  }
  return { port, request, signal: (signal) => void child.kill(signal) };
}
