/** The blob store cannot be used: it is unavailable, full, denies access or has lost the content. */
export class BlobsUnavailableError extends Error {
  override name = 'BlobsUnavailableError';
  /** Whether there is no space left. */
  readonly full: boolean;

  constructor(cause: unknown, { full = false }: { full?: boolean } = {}) {
    super(full ? 'The blob store is full' : 'The blob store cannot be used', { cause });
    this.full = full;
  }
}
