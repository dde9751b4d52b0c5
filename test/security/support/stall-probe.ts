/**
 * Loaded into a process of the service before it starts: measures the processor time for which the event loop was
 * blocked, and reports it over a socket.
 */
import { createServer } from 'node:net';
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 2;

/** For each line that a client writes, responds with the longest time since the last line, in milliseconds. */
function listen(path: string): void {
  let longest = 0;
  let tickedAt = performance.now();
  let used = process.threadCpuUsage();

  setInterval(() => {
    const now = performance.now();
    const { user, system } = process.threadCpuUsage(used);
    // Time counts only if both clocks agree: idle ticks use no processor, and a busy machine delays ticks.
    longest = Math.max(longest, Math.min(now - tickedAt - TICK_MS, (user + system) / 1000));
    tickedAt = now;
    used = process.threadCpuUsage();
  }, TICK_MS).unref();

  const server = createServer((socket) => {
    socket.on('data', () => {
      // The tick after the measured work must come before the response.
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
