import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { closeAfter } from './closing.ts';
import { writeLive } from './live-response.ts';

/** A response before it is written: a JSON body, a text, or a stream. */
export interface HttpResponse {
  readonly status: number;
  /** Undefined for a response without a body. */
  readonly mediaType?: string | undefined;
  readonly body?: unknown;
  /** The serialized body. */
  readonly text?: string | undefined;
  /** The body in parts; when one fails, the connection is closed. */
  readonly stream?: AsyncIterable<string | Uint8Array> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export const EVENT_STREAM = 'text/event-stream';

/** A client that reads nothing of a download for this long is gone. */
const TAKEN_WITHIN_MS = 30_000;

/** Headers of every response: caches must not store it, and browsers must not guess its type. */
export const COMMON_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/** Ends a stream that no client will read. */
export async function discard(stream: AsyncIterable<string | Uint8Array>): Promise<void> {
  // Returning from an iterator that was never started would not destroy the stream.
  if (stream instanceof Readable) stream.destroy();
  else await stream[Symbol.asyncIterator]().return?.();
}

/**
 * Reads the first part of a stream, so that an error at its start can still become an error response. A `Readable` is
 * left unchanged: it must report errors itself.
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
 * Writes a response; a response to HEAD has no body.
 * @returns when it is written
 * @throws Error when a stream fails, or the client disconnects before its end
 */
export async function writeResponse(
  response: ServerResponse,
  requestId: string,
  content: HttpResponse,
): Promise<void> {
  const { status, mediaType, stream } = content;
  // The rest of a body that is too large or too slow is not read.
  if ((status === 413 || status === 408) && !response.req.complete) closeAfter(response);
  const headers = {
    ...COMMON_HEADERS,
    ...(mediaType !== undefined && { 'Content-Type': mediaType }),
    'X-Request-Id': requestId,
    ...content.headers,
  };
  if (stream) {
    response.writeHead(status, headers);
    if (response.req.method === 'HEAD') {
      response.end();
      return discard(stream);
    }
    // A download must make progress; an endless stream may be quiet.
    if ('Content-Length' in headers) response.setTimeout(TAKEN_WITHIN_MS, () => response.destroy());
    return mediaType === EVENT_STREAM && stream instanceof Readable
      ? writeLive(stream, response)
      : pipeline(stream, response);
  }
  if (mediaType === undefined) {
    response.writeHead(status, headers).end();
    return;
  }
  const text = content.text ?? JSON.stringify(content.body);
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(text) }).end(text);
}
