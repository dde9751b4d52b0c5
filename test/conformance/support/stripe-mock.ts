import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { atFileEnd } from '../../support/at-file-end.ts';
import { freePort } from '../../support/free-port.ts';

const run = promisify(execFile);
const VERSION = '0.203.0';
const PACKAGE = `github.com/stripe/stripe-mock@v${VERSION}`;
/** Kept between runs, because it takes longer to build than to test. */
const FOLDER = join(tmpdir(), `latchkey-stripe-mock-${VERSION}`);
const INSTALL_WITHIN_MS = 180_000;

/** The program of the mock: an installed one, or one that is built here. @returns undefined if unavailable */
async function findProgram(): Promise<string | undefined> {
  const own = join(FOLDER, 'stripe-mock');
  for (const program of ['stripe-mock', own]) {
    if (await works(program, ['-version'])) return program;
  }
  for (const go of ['go', '/usr/local/go/bin/go']) {
    if ((await works(go, ['version'])) && (await build(go, own))) return own;
  }
  return undefined;
}

/** Builds it elsewhere and moves it, because another test file may be doing the same. */
async function build(go: string, program: string): Promise<boolean> {
  await mkdir(FOLDER, { recursive: true });
  const folder = await mkdtemp(join(FOLDER, 'build-'));
  const env = { ...process.env, GOBIN: folder };
  const built = await works(go, ['install', PACKAGE], { env, timeout: INSTALL_WITHIN_MS });
  if (built) await rename(join(folder, basename(program)), program);
  await rm(folder, { recursive: true });
  return built;
}

async function works(program: string, parameters: string[], options: object = {}): Promise<boolean> {
  return run(program, parameters, options).then(
    () => true,
    () => false,
  );
}

/**
 * Starts Stripe's own mock, which ends with the calling test file. It checks requests against Stripe's contract, keeps
 * nothing, and responds with examples.
 * @returns its URL, or undefined if unavailable
 */
export async function startStripeMock(): Promise<string | undefined> {
  const program = await findProgram();
  if (program === undefined) return undefined;
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(program, ['-http-addr', address, '-https-addr', '127.0.0.1:0'], { stdio: 'ignore' });
  const closed = once(child, 'close');
  atFileEnd(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  const responses = () =>
    fetch(`http://${address}/`).then(
      () => true,
      () => false,
    );
  while (!(await responses())) {
    if (child.exitCode !== null) return undefined;
    await delay(50);
  }
  return `http://${address}`;
}
