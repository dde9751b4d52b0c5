import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/** How many characters are written to a client at a time; the rest waits at the source of the events. */
const WRITTEN_AT_ONCE = 16 * 1024;

/** The client disconnected, or was disconnected, before the end of its response. */
class Gone extends Error {
  readonly code = 'ERR_STREAM_PREMATURE_CLOSE';
}

/**
 * Writes the output of a stream as it arrives. All output of one turn of the event loop is written in one piece, with
 * the end of the response when the stream ends: with thousands of clients, writes are the main cost of a message.
 * @returns when the end is written
 * @throws Error that of the stream, or when the client disconnects before the end
 */
export function writeLive(stream: Readable, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    let pending = '';

    function write(): void {
      if (pending === '' || response.writableEnded || response.destroyed) return;
      const text = pending;
      pending = '';
      if (!response.write(text)) stream.pause();
    }

    stream.on('data', (part: string) => {
      if (pending === '') setImmediate(write);
      pending += part;
      if (pending.length >= WRITTEN_AT_ONCE) write();
    });
    stream.once('end', () => response.end(pending));
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
