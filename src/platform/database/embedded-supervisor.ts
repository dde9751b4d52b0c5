import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { StartupError } from '../startup-error.ts';
import type { ServerLog } from './embedded-log.ts';

const READY_WITHIN_MS = 30_000;
const POLL_MS = 10;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;
const LOG_CHECK_MS = 60_000;
// Backends of a killed server keep its shared memory for a moment.
const SURVIVORS = /shared memory block/;
const SURVIVORS_LEAVE_WITHIN_MS = 5_000;

export interface Supervised {
  /** Stops the server: fast, after 5 s immediately, after 10 s by SIGKILL. Resolves when it has ended. */
  stop(): Promise<void>;
}

/**
 * Starts the server, waits until it is ready, and starts it again whenever it ends unexpectedly.
 *
 * @param options.launch starts one server process
 * @param options.isReady whether the process of this id accepts connections
 * @param options.requestStop signals a running server to stop
 * @throws StartupError if the first start fails or logs nothing for 30 s
 */
export async function supervise(options: {
  launch: () => ChildProcess;
  isReady: (pid: number) => boolean;
  requestStop: (child: ChildProcess, how: 'fast' | 'immediate') => void;
  log: ServerLog;
  logger: Logger;
}): Promise<Supervised> {
  const { log, logger } = options;
  let stopping = false;
  let current: { child: ChildProcess; ended: Promise<string> };

  const boundLog = () => {
    try {
      log.bound();
    } catch (error) {
      logger.warn({ err: error }, "cannot shorten the embedded database's log");
    }
  };

  const start = () => {
    boundLog();
    const child = options.launch();
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    current = { child, ended };
    return current;
  };

  const becomesReady = async ({ child, ended }: typeof current): Promise<boolean> => {
    let over = false;
    void ended.then(() => (over = true));
    let written = log.size();
    let deadline = Date.now() + READY_WITHIN_MS;
    while (!over && Date.now() < deadline) {
      // Recovery after a crash may take long and logs its progress every 10 s; killing it would only restart it.
      if (log.size() !== written) {
        written = log.size();
        deadline = Date.now() + READY_WITHIN_MS;
      }
      if (child.pid !== undefined && options.isReady(child.pid)) return true;
      await Promise.race([sleep(POLL_MS), ended]);
    }
    return false;
  };

  const startOrFail = async (): Promise<void> => {
    const began = Date.now();
    for (;;) {
      const since = log.size();
      const server = start();
      if (await becomesReady(server)) return;
      server.child.kill('SIGKILL');
      await server.ended;
      const reason = log.reason(Math.min(since, log.size()));
      if (!SURVIVORS.test(reason) || Date.now() - began > SURVIVORS_LEAVE_WITHIN_MS)
        throw new StartupError(`The embedded database did not start: ${reason} (see ${log.path})`);
      await sleep(FIRST_PAUSE_MS);
    }
  };

  const keepRunning = async (): Promise<void> => {
    let pause = FIRST_PAUSE_MS;
    for (;;) {
      const how = await current.ended;
      if (stopping) return;
      logger.error(
        { how, pause, log: log.path },
        'the embedded database ended unexpectedly, starting it again',
      );
      await sleep(pause);
      if (stopping) return;
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      try {
        if (await becomesReady(start())) {
          pause = FIRST_PAUSE_MS;
          logger.info('the embedded database is ready again');
        }
      } catch (error) {
        // The disk may be full or too many files open; the next attempt may succeed.
        logger.error({ err: error }, 'the embedded database cannot be started');
      }
    }
  };

  // An exit without stop(), for example after an uncaught error, must not leave a server running.
  const onExit = () => current && options.requestStop(current.child, 'fast');
  process.once('exit', onExit);
  await startOrFail();
  const running = keepRunning();
  const logCheck = setInterval(boundLog, LOG_CHECK_MS).unref();

  return {
    stop: async () => {
      stopping = true;
      clearInterval(logCheck);
      const { child, ended } = current;
      options.requestStop(child, 'fast');
      const immediate = setTimeout(() => options.requestStop(child, 'immediate'), 5_000);
      const byForce = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(immediate);
      clearTimeout(byForce);
      await running;
      process.removeListener('exit', onExit);
    },
  };
}
