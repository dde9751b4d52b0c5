/**
 * Stores a content, and distinguishes errors of the store from those of the content, which are thrown unchanged.
 * @param toUnavailable converts an error of the store
 * @param store stores the content that it is given
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
        // Catches only errors of the content, not those that the store throws into this generator.
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
