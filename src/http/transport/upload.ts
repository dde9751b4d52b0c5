import type { IncomingMessage } from 'node:http';
import { excludingWait } from '../../platform/request-scope.ts';
import { incomplete, tooLarge } from './request-body.ts';
import { UploadPace } from './upload-pace.ts';

/** How long the rest of an unneeded body may still arrive. */
const REST_WITHIN_MS = 30_000;

const underWay = new WeakSet<IncomingMessage>();

/** Whether the body of a request is being read as an upload, which has a time limit of its own. */
export function isUploading(request: IncomingMessage): boolean {
  return underWay.has(request);
}

/**
 * Reads a body in parts, as they arrive.
 * @param limit in bytes
 * @param leastBytes how much must arrive in 30 s of waiting
 * @throws ApiError PAYLOAD_TOO_LARGE above the limit, MALFORMED_REQUEST when the body is incomplete, REQUEST_TIMEOUT
 *   when it is too slow
 */
export async function* readUpload(
  request: IncomingMessage,
  limit: number,
  leastBytes: number,
): AsyncGenerator<Uint8Array> {
  const pace = new UploadPace(leastBytes);
  let received = 0;
  const parts = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>;
  const nextPart = () =>
    parts.next().catch((cause: unknown) => {
      throw incomplete(cause);
    });
  underWay.add(request);
  try {
    for (;;) {
      const { done, value } = await excludingWait(pace.next(nextPart()));
      if (done) return;
      received += value.length;
      if (received > limit) throw tooLarge(limit);
      yield value;
    }
  } finally {
    underWay.delete(request);
    // Not awaited: it ends with the next part, which may never arrive.
    discardRest(request, parts.return?.());
  }
}

/**
 * Discards the rest of a body for a while, so that the client can read the response and send its next request on the
 * same connection.
 * @param released settles when the iterator no longer reads the body, which can flow only then
 */
function discardRest(request: IncomingMessage, released: Promise<unknown> | undefined): void {
  const resume = () => void request.resume();
  Promise.resolve(released).then(resume, resume);
  if (request.complete) return;
  const timer = setTimeout(() => request.destroy(), REST_WITHIN_MS).unref();
  request.once('close', () => clearTimeout(timer));
}
