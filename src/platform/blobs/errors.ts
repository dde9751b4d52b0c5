/** The blob store cannot be used just now: it is away, full, refuses us, or has lost what it was given. */
export class BlobsUnavailableError extends Error {
  override name = 'BlobsUnavailableError';
  /** There is no room left. */
  readonly full: boolean;

  /** @param cause why */
  constructor(cause: unknown, { full = false }: { full?: boolean } = {}) {
    super(full ? 'The blob store is full' : 'The blob store cannot be used', { cause });
    this.full = full;
  }
}
