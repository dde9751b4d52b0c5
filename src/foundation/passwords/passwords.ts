import { availableParallelism } from 'node:os';
import * as argon2 from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { ApiError } from '../errors/api-error.ts';
import { createConcurrencyLimit } from '../../platform/concurrency-limit.ts';
import { currentTenant } from '../../platform/request-scope.ts';
import { isBcrypt, OWN_PREFIX } from './password-state.ts';

export { importFault, passwordState, unusableHash, type PasswordState } from './password-state.ts';

/** Argon2id, the library's default algorithm, with OWASP's parameters: 19 MiB, 2 passes, 1 lane. */
const PARAMETERS = {
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const;

/** Leaves one core free for verifications, and runs no more hashes than libuv has threads. */
const CONCURRENT = Math.min(4, Math.max(1, availableParallelism() - 1));
/** This many are hashed within half a second. */
const QUEUE = 16 * CONCURRENT;
/**
 * Developers choose imported hashes, which may cost a hundred times as much as new ones. So they are verified one
 * at a time, and each application has a separate queue.
 */
const IMPORTED_QUEUE_PER_APPLICATION = 8;
const IMPORTED_QUEUE = 64;

/** Creates and verifies hashes: the library, or a stub in tests. */
export type Argon2 = Pick<typeof argon2, 'hash' | 'verify'>;

export interface Passwords {
  /**
   * @returns Argon2id in PHC form
   * @throws ApiError TOO_MANY_REQUESTS when too many passwords are waiting
   */
  hash(password: string): Promise<string>;
  /**
   * The same for a developer, who may request any number of hashes. Developers alternate, and only one of
   * their hashes at a time competes with logins.
   * @throws ApiError TOO_MANY_REQUESTS when too many passwords of the developer are waiting
   */
  hashFor(developerId: string, password: string): Promise<string>;
  /**
   * Verifies a password. A missing account takes as long as an existing one, unless the hash comes from
   * another system.
   * @param stored the stored hash: any Argon2 in PHC form, or bcrypt; undefined when there is no
   *   account
   * @returns whether the password is right, and a new hash to replace one of another system. The new hash
   *   covers the whole password, even where bcrypt used only its first 72 bytes.
   * @throws ApiError TOO_MANY_REQUESTS when too many passwords are waiting
   */
  verify(stored: string | undefined, password: string): Promise<{ valid: boolean; rehashed?: string }>;
  /**
   * Refuses a request before other work is done, if its password could not be verified.
   * @throws ApiError TOO_MANY_REQUESTS
   */
  assertCapacity(): void;
  /** How many passwords are being hashed, how many wait, and how many were refused since the start. */
  load(): { readonly active: number; readonly waiting: number; readonly refused: number };
}

/**
 * Hashes passwords, a few at a time: a flood of logins is refused immediately and never delays other
 * requests.
 */
export async function createPasswords({ hash, verify }: Argon2 = argon2): Promise<Passwords> {
  const limit = createConcurrencyLimit({ limit: CONCURRENT, refusal });
  const imported = createConcurrencyLimit({
    limit: 1,
    queuePerKey: IMPORTED_QUEUE_PER_APPLICATION,
    queue: IMPORTED_QUEUE,
    refusal,
  });
  const byDeveloper = createConcurrencyLimit({ limit: 1, queuePerKey: CONCURRENT + QUEUE - 1, refusal });
  let refused = 0;
  const decoy = await hash('no account has this password', PARAMETERS);

  function assertCapacity(): void {
    const { running, waiting } = limit.load();
    if (running + waiting >= CONCURRENT + QUEUE) throw refusal();
  }

  function refusal(): ApiError {
    refused += 1;
    return new ApiError('TOO_MANY_REQUESTS', {
      detail: 'Too many password checks are waiting.',
      retryAfter: 1,
    });
  }

  function queued<Result>(work: () => Promise<Result>): Promise<Result> {
    assertCapacity();
    return limit.run(currentTenant(), work);
  }

  return {
    assertCapacity,
    load: () => ({
      active: limit.load().running + imported.load().running,
      waiting: limit.load().waiting + imported.load().waiting + byDeveloper.load().waiting,
      refused,
    }),
    hash: async (password) => queued(() => hash(password, PARAMETERS)),
    hashFor: (developerId, password) =>
      byDeveloper.run(developerId, () => limit.run(currentTenant(), () => hash(password, PARAMETERS))),
    verify: async (stored, password) => {
      if (stored === undefined || stored.startsWith(OWN_PREFIX)) {
        const matches = await queued(() => verify(stored ?? decoy, password));
        return { valid: stored !== undefined && matches };
      }
      return imported.run(currentTenant(), async () => {
        if (!(await matchesImported(stored, password))) return { valid: false };
        return { valid: true, rehashed: await hash(password, PARAMETERS) };
      });
    },
  };
}

async function matchesImported(stored: string, password: string): Promise<boolean> {
  if (!isBcrypt(stored)) return argon2.verify(stored, password);
  // bcrypt repeats a short password with a NUL in between, so a longer one that contains NULs would match it.
  return !password.includes('\0') && verifyBcrypt(password, stored);
}
