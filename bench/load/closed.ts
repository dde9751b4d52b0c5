import { openConnection } from './connection.ts';
import type { Tally } from './tally.ts';

/**
 * Keeps every connection busy with one request at a time.
 * @param make makes a request
 * @param ms for how long; a wrong response ends it earlier
 */
export async function loadClosed(
  { port, connections, ms }: { readonly port: number; readonly connections: number; readonly ms: number },
  make: () => string,
  tally: Tally,
): Promise<void> {
  const start = performance.now();

  function run(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let sent = 0;
    const next = () => {
      try {
        const request = make();
        sent = performance.now();
        connection.send(request);
      } catch (error) {
        reject(error);
      }
    };
    const connection = openConnection(
      port,
      (response) => {
        const now = performance.now();
        tally.count(response, now - sent);
        if (now - start < ms && !tally.broken) return next();
        connection.close();
        resolve();
      },
      reject,
    );
    next();
    return promise;
  }
  await Promise.all(Array.from({ length: connections }, run));
}
