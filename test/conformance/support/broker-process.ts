import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { atFileEnd } from '../../support/at-file-end.ts';

/** A broker in another process. */
export interface BrokerProcess {
  /** Kills it. */
  kill(): Promise<void>;
  /** Suspends it: connections stay open, and nothing responds. */
  hang(): void;
  resume(): void;
}

const mosquitto = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'mosquitto'))
  .find((path) => existsSync(path));

/** The broker of the tests, for their titles. */
export const SERVER =
  mosquitto === undefined
    ? 'a server (aedes as a stand-in: no mosquitto on the PATH)'
    : 'a server (mosquitto)';

const running = new Set<ChildProcess>();

/**
 * Starts a broker on a loopback port, and waits until it accepts connections.
 * @throws Error with its output if it ends earlier
 */
export async function startBroker(port: number): Promise<BrokerProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-test-'));
  const configuration = join(folder, 'mosquitto.conf');
  const lines = [
    `listener ${port} 127.0.0.1`,
    'allow_anonymous true',
    'persistence false',
    // Only root has to switch to another user.
    `user ${userInfo().username}`,
  ];
  await writeFile(configuration, `${lines.join('\n')}\n`);
  const [program, args] =
    mosquitto === undefined
      ? [process.execPath, [join(import.meta.dirname, 'aedes-server.ts'), String(port)]]
      : [mosquitto, ['-c', configuration]];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  atFileEnd(() => killAndWait(child));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (output += String(part)));
  child.once('exit', () => running.delete(child));
  while (!(await accepts(port))) {
    if (!running.has(child)) throw new Error(`the broker did not start: ${output}`);
    await delay(20);
  }
  await rm(folder, { recursive: true });
  return {
    kill: () => killAndWait(child),
    hang: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function killAndWait(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
