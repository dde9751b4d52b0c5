import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** The number of ports for each of vitest's workers. */
const OWN = 2_000;

/**
 * A loopback port that stays free: below those that the system assigns by itself, in a range that no other worker uses.
 */
export async function freePort(): Promise<number> {
  const first = 10_000 + OWN * (Number(process.env['VITEST_POOL_ID'] ?? 0) % 10);
  for (;;) {
    const port = randomInt(first, first + OWN);
    const server = createServer().listen(port, '127.0.0.1');
    const failure = await once(server, 'listening').then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error,
    );
    if (failure && failure.code !== 'EADDRINUSE') throw failure;
    if (failure) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
