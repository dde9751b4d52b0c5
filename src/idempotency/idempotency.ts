import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Knex } from 'knex';
import { ApiError } from '../errors/api-error.ts';
import type { Clock } from '../platform/clock.ts';
import { createConcurrencyLimit } from '../platform/concurrency-limit.ts';
import { createResealer } from '../platform/database/reseal.ts';
import type { Keyring } from '../platform/keyring.ts';
import { currentTenant } from '../platform/request-scope.ts';
import * as store from './idempotency-store.ts';

/** How long a repeated request gets the first one's answer. */
const REMEMBERED_MS = 24 * 60 * 60 * 1000;
const CLEARED_AT_ONCE = 100;
/** Each request holds a connection for all of its work, hashing too: half of them stay for everybody else. */
const AT_ONCE = 5;
/** One tenant's requests leave the rest to others, and wait for each other alone. */
const OF_ONE_AT_ONCE = 3;
const OF_ONE_WAITING = 100;
/** So many wait in all, without a connection. */
const WAITING = 300;
/** A caller that has waited that long should retry, also where the operation itself may take longer. */
const PATIENCE_MS = 4_500;

/** What an operation answered, so that it can be answered again. */
export interface RecordedAnswer {
  readonly status: number;
  readonly mediaType: string;
  readonly text: string;
}

export interface Idempotency {
  /**
   * Does the work of a request once: its effect and its answer are kept in one transaction, or neither is
   * (draft-ietf-httpapi-idempotency-key-header).
   * @param owner whose key it is: equal keys of others are other keys
   * @param key as the client sent it
   * @param request what makes it the same request: method, address and body
   * @param work whatever it asks of the database joins the transaction
   * @param stillMay throws when the owner may not see an earlier answer any more; the work must find out by itself
   * @returns the answer, and whether it is that of an earlier request
   * @throws ApiError IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE, TOO_MANY_REQUESTS when too many of the same
   *   tenant wait, SERVICE_UNAVAILABLE when too many wait in all or this one has waited too long, and what `work` and `stillMay` throw: then nothing is kept
   */
  once(
    owner: string,
    key: string,
    request: readonly (string | Uint8Array)[],
    work: () => Promise<RecordedAnswer>,
    stillMay?: () => Promise<unknown>,
  ): Promise<{ readonly answer: RecordedAnswer; readonly replayed: boolean }>;
  /** Deletes some answers that are no longer remembered. @returns how many */
  clearExpired(): Promise<number>;
  /** Seals answers anew under the current master key. @returns how many it found */
  reseal(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly inOneTransaction: <Result>(work: (trx: Knex.Transaction) => Promise<Result>) => Promise<Result>;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

export function createIdempotency({ knex, inOneTransaction, keyring, clock }: Dependencies): Idempotency {
  const limit = createConcurrencyLimit({
    atOnce: AT_ONCE,
    ofOneAtOnce: OF_ONE_AT_ONCE,
    ofOneWaiting: OF_ONE_WAITING,
    waiting: WAITING,
    patienceMs: PATIENCE_MS,
    refusal: (why) =>
      new ApiError(why === 'own' ? 'TOO_MANY_REQUESTS' : 'SERVICE_UNAVAILABLE', {
        detail: `Too many ${why === 'own' ? 'of your ' : ''}requests with an Idempotency-Key are waiting.`,
        retryAfter: 1,
      }),
  });

  return {
    once: async (owner, key, request, work, stillMay) => {
      const keyDigest = digestOf([owner, key]);
      const fingerprint = digestOf(request);
      const context = sealContext(keyDigest);
      const inTransaction = async (trx: Knex.Transaction) => {
        if (!(await store.tryHoldKey(trx, keyDigest))) {
          throw new ApiError('IDEMPOTENCY_KEY_IN_USE', { retryAfter: 1 });
        }
        const known = await store.findAnswer(trx, keyDigest, clock.now());
        if (known) await stillMay?.();
        if (known && !known.fingerprint.equals(fingerprint)) throw new ApiError('IDEMPOTENCY_KEY_REUSED');
        if (known)
          return { answer: await unpack(keyring.open(known.answer_sealed, context)), replayed: true };
        const answer = await work();
        await store.insertAnswer(trx, {
          key_digest: keyDigest,
          fingerprint,
          answer_sealed: keyring.seal(await pack(answer), context),
          expires_at: new Date(clock.now().getTime() + REMEMBERED_MS),
        });
        return { answer, replayed: false };
      };
      return limit.run(currentTenant(owner), () => inOneTransaction(inTransaction));
    },

    clearExpired: () => store.clearExpiredAnswers(knex, clock.now(), CLEARED_AT_ONCE),

    reseal: createResealer<Buffer>(knex, keyring, {
      table: 'idempotency_keys',
      id: 'key_digest',
      column: 'answer_sealed',
      context: sealContext,
    }),
  };
}

function sealContext(keyDigest: Buffer): string {
  return `idempotency:${keyDigest.toString('hex')}`;
}

/** SHA-256 over parts whose borders cannot be moved. */
function digestOf(parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(createHash('sha256').update(part).digest());
  return hash.digest();
}

async function pack(answer: RecordedAnswer): Promise<Buffer> {
  return promisify(gzip)(JSON.stringify(answer));
}

async function unpack(packed: Buffer): Promise<RecordedAnswer> {
  return JSON.parse((await promisify(gunzip)(packed)).toString()) as RecordedAnswer;
}
