import { discard } from '../transport/response.ts';

/** As often as streams of events recheck their credentials. */
const RECHECK_MS = 15_000;

/** The credential of a request was revoked, or its developer suspended, before its response was complete. */
export class NoLongerAllowedError extends Error {}

/**
 * A response in parts that ends with an error if the credential of its request is revoked in the meantime. Parts are
 * read as the client takes them, so a slow client could otherwise read new data for hours.
 */
export function recheckedStream<Part>(
  stream: AsyncIterable<Part>,
  isStillAllowed: () => Promise<boolean>,
  now: () => Date,
): AsyncIterable<Part> {
  let checkedAt = now().getTime();
  let parts: AsyncIterator<Part> | undefined;

  async function close(): Promise<void> {
    if (parts) await parts.return?.();
    else await discard(stream as AsyncIterable<string>);
  }

  async function recheck(): Promise<void> {
    const time = now().getTime();
    if (time - checkedAt < RECHECK_MS) return;
    checkedAt = time;
    // While the database is unavailable, this is unknown and the response continues as far as it can.
    if (await isStillAllowed().catch(() => true)) return;
    await close();
    throw new NoLongerAllowedError('the credential is no longer accepted');
  }

  const iterator: AsyncIterator<Part> = {
    async next() {
      await recheck();
      parts ??= stream[Symbol.asyncIterator]();
      const part = await parts.next();
      // What was read while the credential was revoked, such as after a wait for a lock, is not sent either.
      if (part.done !== true) await recheck();
      return part;
    },
    async return() {
      await close();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
