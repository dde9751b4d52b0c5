import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/** What a client takes at a time, in characters; more waits where the events come from. */
const WRITTEN_AT_ONCE = 16 * 1024;

/** A client went away, or was cut off, before the end of its response. */
class Gone extends Error {
  readonly code = 'ERR_STREAM_PREMATURE_CLOSE';
}

/**
 * Writes what a stream says as it says it: all of one turn of the event loop in one piece, with the end of the response when the
 * stream ends. With thousands of clients, writes are what a message costs.
 * @returns when the end is written
 * @throws Error that of the stream, or when the client goes away before its end
 */
export function writeLive(stream: Readable, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';

    function write(): void {
      if (said === '' || response.writableEnded || response.destroyed) return;
      const text = said;
      said = '';
      if (!response.write(text)) stream.pause();
    }

    stream.on('data', (part: string) => {
      if (said === '') setImmediate(write);
      said += part;
      if (said.length >= WRITTEN_AT_ONCE) write();
    });
    stream.once('end', () => response.end(said));
    stream.once('error', reject);
    stream.once('close', () => stream.readableEnded || reject(new Gone()));
    response.on('drain', () => stream.resume());
    response.on('error', reject);
    response.once('close', () => {
      stream.destroy();
      if (response.writableFinished) resolve();
      else reject(new Gone());
    });
  });
}
