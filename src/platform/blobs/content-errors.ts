/**
 * Stores a content, and tells errors of the store from those of the content: the latter are thrown as they are.
 * @param toUnavailable what an error of the store becomes
 * @param store reads the content that it is given
 */
export async function withContentErrors(
  content: AsyncIterable<Uint8Array>,
  toUnavailable: (error: unknown) => Error,
  store: (content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  let fault: { readonly error: unknown } | undefined;
  async function* watched(): AsyncGenerator<Uint8Array> {
    const pieces = content[Symbol.asyncIterator]();
    try {
      for (;;) {
        // Not what is thrown into this by a reader that gives up.
        const next = await pieces.next().catch((error: unknown) => {
          fault = { error };
          throw error;
        });
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await pieces.return?.();
    }
  }
  try {
    await store(watched());
  } catch (error) {
    if (fault) throw fault.error;
    throw toUnavailable(error);
  }
}
