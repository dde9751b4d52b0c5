import { availableParallelism } from 'node:os';
import * as argon2 from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { ApiError } from '../errors/api-error.ts';
import { createConcurrencyLimit } from '../platform/concurrency-limit.ts';
import { currentTenant } from '../platform/request-scope.ts';
import { isBcrypt, OWN_PREFIX } from './password-state.ts';

export { importFault, passwordState, unusableHash, type PasswordState } from './password-state.ts';

/** Argon2id, the library's default algorithm, with OWASP's parameters: 19 MiB, 2 passes, 1 lane. */
const PARAMETERS = {
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const;

/** One core stays free for verifications, and no more hashes run than libuv has threads. */
const CONCURRENT = Math.min(4, Math.max(1, availableParallelism() - 1));
/** Done within half a second. */
const WAITING = 16 * CONCURRENT;
/**
 * A hash of another system may cost a hundred times as much as one of ours, as its developer likes: they are checked one at a
 * time, and those of one application wait for each other alone.
 */
const IMPORTED_WAITING = 8;
/** Of all applications together. */
const ALL_IMPORTED_WAITING = 64;

/** What makes hashes and checks them: the library, or what stands in for it. */
export type Argon2 = Pick<typeof argon2, 'hash' | 'verify'>;

export interface Passwords {
  /**
   * @returns Argon2id in PHC form
   * @throws ApiError TOO_MANY_REQUESTS when too many are waiting
   */
  hash(password: string): Promise<string>;
  /**
   * The same for a developer, who may ask for it as often as he likes: developers take turns, and of all of them one at a time
   * stands among the logins.
   * @throws ApiError TOO_MANY_REQUESTS when too many of his own are waiting
   */
  hashFor(developerId: string, password: string): Promise<string>;
  /**
   * Takes as long for an account that does not exist as for one that does, unless its hash is of another system.
   * @param stored the stored hash: ours, Argon2 of any kind in PHC form, or bcrypt; undefined when there is no account
   * @returns whether the password is right, and a hash of ours where the stored one is not: that of all of the password,
   *   also where bcrypt has looked at its first 72 bytes only
   * @throws ApiError TOO_MANY_REQUESTS when too many are waiting
   */
  verify(stored: string | undefined, password: string): Promise<{ valid: boolean; rehashed?: string }>;
  /** Asked before anything is done for a password that could not be looked at. @throws ApiError TOO_MANY_REQUESTS */
  assertRoom(): void;
  /** How many are hashed now, how many wait, and how many were refused since the start. */
  load(): { readonly active: number; readonly waiting: number; readonly refused: number };
}

/** Hashes passwords, a few at a time: a flood of logins is refused at once and never delays the rest. */
export async function createPasswords({ hash, verify }: Argon2 = argon2): Promise<Passwords> {
  const limit = createConcurrencyLimit({ atOnce: CONCURRENT, refusal });
  const imported = createConcurrencyLimit({
    atOnce: 1,
    ofOneWaiting: IMPORTED_WAITING,
    waiting: ALL_IMPORTED_WAITING,
    refusal,
  });
  const ofDevelopers = createConcurrencyLimit({ atOnce: 1, ofOneWaiting: CONCURRENT + WAITING - 1, refusal });
  let refused = 0;
  const decoy = await hash('no account has this password', PARAMETERS);

  function assertRoom(): void {
    const { running, waiting } = limit.load();
    if (running + waiting >= CONCURRENT + WAITING) throw refusal();
  }

  function refusal(): ApiError {
    refused += 1;
    return new ApiError('TOO_MANY_REQUESTS', {
      detail: 'Too many password checks are waiting.',
      retryAfter: 1,
    });
  }

  function queued<Result>(work: () => Promise<Result>): Promise<Result> {
    assertRoom();
    return limit.run(currentTenant(), work);
  }

  return {
    assertRoom,
    load: () => ({
      active: limit.load().running + imported.load().running,
      waiting: limit.load().waiting + imported.load().waiting + ofDevelopers.load().waiting,
      refused,
    }),
    hash: async (password) => queued(() => hash(password, PARAMETERS)),
    hashFor: (developerId, password) =>
      ofDevelopers.run(developerId, () => limit.run(currentTenant(), () => hash(password, PARAMETERS))),
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
  // bcrypt repeats a short password with a NUL in between: with NULs of its own, a longer one would pass for it.
  return !password.includes('\0') && verifyBcrypt(password, stored);
}
