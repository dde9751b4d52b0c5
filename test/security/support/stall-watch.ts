import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Watches the event loop of a service in another process. */
export interface StallWatch {
  /** The longest processor time, in milliseconds, for which the loop was blocked since the last call. */
  longest(): Promise<number>;
  end(): void;
}

/**
 * @param folder for the socket over which the process reports
 * @returns the environment that the process needs, and a function that begins to watch once it runs
 */
export function prepareWatch(folder: string): {
  readonly environment: Readonly<Record<string, string>>;
  readonly begin: () => StallWatch;
} {
  const socketPath = join(folder, `${randomBytes(4).toString('hex')}.sock`);
  const probePath = fileURLToPath(new URL('stall-probe.ts', import.meta.url));
  return {
    environment: { NODE_OPTIONS: `--import=${probePath}`, STALL_PROBE: socketPath },
    begin() {
      const probe = connect(socketPath);
      probe.on('error', () => {});
      return {
        longest: () =>
          new Promise((resolve, reject) => {
            const gone = () => reject(new Error('the service is gone'));
            probe.once('close', gone).once('data', (line: Buffer) => {
              probe.off('close', gone);
              resolve(Number(line.toString()));
            });
            probe.write('\n');
          }),
        end: () => void probe.destroy(),
      };
    },
  };
}
