import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { closeAfter } from './closing.ts';
import { writeLive } from './live-response.ts';

/** An answer before it is written: JSON of its body, a text, or a stream. */
export interface HttpResponse {
  readonly status: number;
  /** Undefined for an answer without a body. */
  readonly mediaType?: string | undefined;
  readonly body?: unknown;
  /** The body as it is written already. */
  readonly text?: string | undefined;
  /** The body in parts; it is ended with the connection when a part fails. */
  readonly stream?: AsyncIterable<string | Uint8Array> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export const EVENT_STREAM = 'text/event-stream';

/** A client that takes nothing of a download for so long is gone. */
const TAKEN_WITHIN_MS = 30_000;

/** Headers of every answer: none is stored by a cache or taken for anything but its media type. */
export const COMMON_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/** Lets go of a stream that nobody is to get. */
export async function discard(stream: AsyncIterable<string | Uint8Array>): Promise<void> {
  // The iterator of one that was not begun does not end it.
  if (stream instanceof Readable) stream.destroy();
  else await stream[Symbol.asyncIterator]().return?.();
}

/**
 * Asks a stream for its first part, so that what is wrong with it from the start can still be answered as an error. A
 * `Readable` stays as it is: it must tell by itself.
 */
export async function begin(stream: AsyncIterable<string | Uint8Array>): Promise<typeof stream> {
  if (stream instanceof Readable) return stream;
  const iterator = stream[Symbol.asyncIterator]();
  let first: IteratorResult<string | Uint8Array> | undefined = await iterator.next();
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const result = first ?? (await iterator.next());
        first = undefined;
        return result;
      },
      return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
    }),
  };
}

/**
 * Writes an answer; an answer to HEAD goes without its body.
 * @returns when it is written
 * @throws Error when a stream fails, or the client goes away before its end
 */
export async function writeResponse(
  response: ServerResponse,
  requestId: string,
  answer: HttpResponse,
): Promise<void> {
  const { status, mediaType, stream } = answer;
  // The rest of a body that is too large or too slow is not read.
  if ((status === 413 || status === 408) && !response.req.complete) closeAfter(response);
  const headers = {
    ...COMMON_HEADERS,
    ...(mediaType !== undefined && { 'Content-Type': mediaType }),
    'X-Request-Id': requestId,
    ...answer.headers,
  };
  if (stream) {
    response.writeHead(status, headers);
    if (response.req.method === 'HEAD') {
      response.end();
      return discard(stream);
    }
    // What has an end must get there; an endless stream may be quiet.
    if ('Content-Length' in headers) response.setTimeout(TAKEN_WITHIN_MS, () => response.destroy());
    return mediaType === EVENT_STREAM && stream instanceof Readable
      ? writeLive(stream, response)
      : pipeline(stream, response);
  }
  if (mediaType === undefined) {
    response.writeHead(status, headers).end();
    return;
  }
  const text = answer.text ?? JSON.stringify(answer.body);
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(text) }).end(text);
}
