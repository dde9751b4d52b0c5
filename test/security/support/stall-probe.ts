/**
 * Loaded into a process of the service before it starts: notes for how long of processor time the event loop was held, and
 * tells it over a socket.
 */
import { createServer } from 'node:net';
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 2;

/** Whoever connects and writes a line gets the longest time since the last line, in milliseconds. */
function listen(path: string): void {
  let longest = 0;
  let tickedAt = performance.now();
  let used = process.threadCpuUsage();

  setInterval(() => {
    const now = performance.now();
    const { user, system } = process.threadCpuUsage(used);
    // What ran while nothing waited held nobody up, and what waited for a busy machine was not held by us.
    longest = Math.max(longest, Math.min(now - tickedAt - TICK_MS, (user + system) / 1000));
    tickedAt = now;
    used = process.threadCpuUsage();
  }, TICK_MS).unref();

  const server = createServer((socket) => {
    socket.on('data', () => {
      // The tick that ends what was just done comes before the answer.
      setTimeout(() => {
        socket.write(`${longest}\n`);
        longest = 0;
      }, TICK_MS * 2);
    });
    socket.on('error', () => socket.destroy());
    socket.unref();
  });
  server.listen(path).unref();
}

const path = process.env['STALL_PROBE'];
if (isMainThread && path) listen(path);
