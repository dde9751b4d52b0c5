import { ApiError } from '../errors/api-error.ts';

const MIB = 1024 * 1024;
/** Reading them and working on one of them leaves as much again behind, until garbage is collected. */
const OF_ALL = 48 * MIB;
/** As much as one import may have. */
const OF_ONE = 32 * MIB;
/** Room is taken in parts of this size. */
const BLOCK = 65_536;

/**
 * Bodies that are held in memory until their requests are answered, of all developers together no more than the process
 * can bear. Room is taken for what has come, not for what is announced: an announcement costs its sender nothing.
 */
export class HeldBodies {
  readonly #held = new Map<object, { readonly owner: string; readonly blocks: ArrayBuffer[] }>();

  /**
   * Reads a body in blocks of one size, for which it holds room: parts may come byte by byte, and each would cost more than
   * what is in it.
   * @param request whose body it is, which gives its room back
   * @param owner who has a share of his own
   * @throws ApiError TOO_MANY_REQUESTS when he has used it up, SERVICE_UNAVAILABLE when there is no room at all, and what
   *   the body throws
   */
  async *hold(
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
          block = new Uint8Array(this.#take(request, owner));
          filled = 0;
        }
        const piece = part.subarray(start, start + BLOCK - filled);
        block.set(piece, filled);
        filled += piece.length;
        start += piece.length;
      }
    }
    if (filled > 0) yield block.subarray(0, filled);
  }

  /** Gives the room of a request back, if it has any. */
  release(request: object): void {
    // Frees it at once: until garbage is collected there would be as much again.
    for (const block of this.#held.get(request)?.blocks ?? []) block.transfer(0);
    this.#held.delete(request);
  }

  #take(request: object, owner: string): ArrayBuffer {
    const all = [...this.#held.values()];
    const isFull = (some: typeof all, limit: number) =>
      some.reduce((sum, { blocks }) => sum + blocks.length * BLOCK, 0) + BLOCK > limit;
    if (
      isFull(
        all.filter((each) => each.owner === owner),
        OF_ONE,
      )
    ) {
      throw new ApiError('TOO_MANY_REQUESTS', {
        detail: 'Your imports that are under way have too much to hold.',
        retryAfter: 1,
      });
    }
    if (isFull(all, OF_ALL)) {
      throw new ApiError('SERVICE_UNAVAILABLE', {
        detail: 'The imports that are under way have too much to hold.',
        retryAfter: 1,
      });
    }
    const held = this.#held.get(request) ?? { owner, blocks: [] };
    this.#held.set(request, held);
    const block = new ArrayBuffer(BLOCK);
    held.blocks.push(block);
    return block;
  }
}
