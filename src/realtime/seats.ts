import { ApiError } from '../errors/api-error.ts';

const RETRY_AFTER_SECONDS = 10;

/** Room for clients that stay connected: so many on this node, and so many for each who holds some. */
export interface Seats {
  /**
   * @param holder who takes the seat, with how many others he may hold at most
   * @returns gives the seat back, once
   * @throws ApiError TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE
   */
  take(holder: string, atMost: number): () => void;
  taken(): number;
  /** From now on there is room for nobody. */
  close(): void;
}

export function createSeats(capacity: number): Seats {
  const held = new Map<string, number>();
  let taken = 0;
  let closed = false;
  return {
    take(holder, atMost) {
      if (closed || taken >= capacity) {
        const detail = closed ? 'This node is stopping.' : 'This node has no room for another listener.';
        throw new ApiError('SERVICE_UNAVAILABLE', { detail, retryAfter: closed ? 1 : RETRY_AFTER_SECONDS });
      }
      const before = held.get(holder) ?? 0;
      if (before >= atMost) {
        throw new ApiError('TOO_MANY_REQUESTS', {
          detail: `More than ${atMost} listeners at a time.`,
          retryAfter: RETRY_AFTER_SECONDS,
        });
      }
      held.set(holder, before + 1);
      taken += 1;
      let given = false;
      return () => {
        if (given) return;
        given = true;
        taken -= 1;
        const left = held.get(holder)! - 1;
        if (left > 0) held.set(holder, left);
        else held.delete(holder);
      };
    },
    taken: () => taken,
    close: () => void (closed = true),
  };
}
