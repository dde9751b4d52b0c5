import { randomBytes, randomFillSync } from 'node:crypto';

/** The source of randomness. It is a parameter everywhere, so that tests are reproducible. */
export interface Random {
  /** `size` cryptographically random bytes, never returned twice. */
  bytes(size: number): Buffer;
}

/** One system call for many small values: a call costs more than everything else that a request id needs. */
const POOL_BYTES = 4096;
const LARGEST_POOLED = 64;

/** The operating system's cryptographic source. */
export const systemRandom: Random = createPooledRandom();

function createPooledRandom(): Random {
  const pool = Buffer.alloc(POOL_BYTES);
  let next = POOL_BYTES;
  return {
    bytes(size) {
      if (size > LARGEST_POOLED) return randomBytes(size);
      if (next + size > POOL_BYTES) {
        randomFillSync(pool);
        next = 0;
      }
      const taken = Buffer.from(pool.subarray(next, next + size));
      pool.fill(0, next, next + size);
      next += size;
      return taken;
    },
  };
}
