import { ApiError } from '../../foundation/errors/api-error.ts';

const MIB = 1024 * 1024;
/** The same amount again may remain as garbage for a while after the bodies are processed. */
const TOTAL_BYTES = 48 * MIB;
/** The size of the largest import. */
const BYTES_PER_OWNER = 32 * MIB;
const BLOCK_BYTES = 65_536;

/**
 * Limits the memory of buffered upload bodies, in total and for each developer, until their requests are done. Only
 * received bytes count: announcing a large body uses no memory.
 */
export class UploadMemoryBudget {
  readonly #buffered = new Map<object, { readonly owner: string; readonly blocks: ArrayBuffer[] }>();

  /**
   * Buffers a body in blocks of one size: a body may arrive byte by byte, and an array for each part would take far
   * more memory than its content.
   * @param request the request that holds the memory, until `release`
   * @param owner the developer whose share is used
   * @throws ApiError TOO_MANY_REQUESTS when the owner's share is used up, SERVICE_UNAVAILABLE when the total is, and
   *   the errors of the body
   */
  async *buffer(
    request: object,
    owner: string,
    body: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    let block = new Uint8Array(0);
    let filled = 0;
    for await (const part of body) {
      for (let start = 0; start < part.length;) {
        if (filled === block.length) {
          if (filled > 0) yield block;
          block = new Uint8Array(this.#allocate(request, owner));
          filled = 0;
        }
        const piece = part.subarray(start, start + BLOCK_BYTES - filled);
        block.set(piece, filled);
        filled += piece.length;
        start += piece.length;
      }
    }
    if (filled > 0) yield block.subarray(0, filled);
  }

  /** Frees the memory of a request, if it holds any. */
  release(request: object): void {
    // Transferring frees a block at once; garbage collection may happen much later.
    for (const block of this.#buffered.get(request)?.blocks ?? []) block.transfer(0);
    this.#buffered.delete(request);
  }

  #allocate(request: object, owner: string): ArrayBuffer {
    const all = [...this.#buffered.values()];
    const isFull = (some: typeof all, limit: number) =>
      some.reduce((sum, { blocks }) => sum + blocks.length * BLOCK_BYTES, 0) + BLOCK_BYTES > limit;
    const own = all.filter((each) => each.owner === owner);
    if (isFull(own, BYTES_PER_OWNER)) {
      throw new ApiError('TOO_MANY_REQUESTS', {
        detail: 'Your imports in progress use all the memory available to you.',
        retryAfter: 1,
      });
    }
    if (isFull(all, TOTAL_BYTES)) {
      throw new ApiError('SERVICE_UNAVAILABLE', {
        detail: 'The imports in progress use all the memory available for uploads.',
        retryAfter: 1,
      });
    }
    const buffered = this.#buffered.get(request) ?? { owner, blocks: [] };
    this.#buffered.set(request, buffered);
    const block = new ArrayBuffer(BLOCK_BYTES);
    buffered.blocks.push(block);
    return block;
  }
}
