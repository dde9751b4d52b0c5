import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip, gunzip, gzip } from 'node:zlib';
import type { Knex } from 'knex';
import { ApiError } from '../errors/api-error.ts';
import type { Clock } from '../../platform/clock.ts';
import { createConcurrencyLimit } from '../../platform/concurrency-limit.ts';
import { createResealer } from '../../platform/database/reseal.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { currentTenant } from '../../platform/request-scope.ts';
import * as store from './idempotency-store.ts';

/** How long a repeated request gets the response of the first one. */
const REMEMBERED_MS = 24 * 60 * 60 * 1000;
const CLEARED_AT_ONCE = 100;
/**
 * Each request occupies a connection for all of its work, even for hashing: half of the connections stay free
 * for others.
 */
const LIMIT = 5;
const LIMIT_PER_TENANT = 3;
const QUEUE_PER_TENANT = 100;
/** Waiting requests occupy no connection. */
const QUEUE = 300;
/** After this time a caller should retry, even where the operation itself may take longer. */
const MAX_WAIT_MS = 4_500;
/** In characters. */
const SERIALIZED_AT_ONCE = 65_536;

/** The response of an operation, recorded so that it can be repeated. */
export interface RecordedResponse {
  readonly status: number;
  readonly mediaType: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface Idempotency {
  /**
   * Does the work of a request once: one transaction keeps both its effect and its response, or neither
   * (draft-ietf-httpapi-idempotency-key-header).
   * @param owner the owner of the key; the same key of another owner is a different one
   * @param key as the client sent it
   * @param request what identifies the request: method, URL and body
   * @param work runs in the transaction, with all of its database statements
   * @param authorizeReplay throws when the owner may no longer see a recorded response; `work` checks that
   *   itself
   * @returns the response, and whether it is that of an earlier request
   * @throws ApiError IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE, TOO_MANY_REQUESTS when too many requests
   *   of the same tenant are waiting, SERVICE_UNAVAILABLE when too many are waiting in total or this one has
   *   waited too long, and what `work` and `authorizeReplay` throw: then nothing is kept
   */
  once(
    owner: string,
    key: string,
    request: readonly (string | Uint8Array)[],
    work: () => Promise<RecordedResponse>,
    authorizeReplay?: () => Promise<unknown>,
  ): Promise<{ readonly response: RecordedResponse; readonly replayed: boolean }>;
  /** Deletes some expired responses. @returns how many */
  clearExpired(): Promise<number>;
  /** Encrypts responses under the current master key. @returns how many */
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
    limit: LIMIT,
    limitPerKey: LIMIT_PER_TENANT,
    queuePerKey: QUEUE_PER_TENANT,
    queue: QUEUE,
    maxWaitMs: MAX_WAIT_MS,
    refusal: (reason) =>
      new ApiError(reason === 'key' ? 'TOO_MANY_REQUESTS' : 'SERVICE_UNAVAILABLE', {
        detail: `Too many ${reason === 'key' ? 'of your ' : ''}requests with an Idempotency-Key are waiting.`,
        retryAfter: 1,
      }),
  });

  return {
    once: async (owner, key, request, work, authorizeReplay) => {
      const keyDigest = digestOf([owner, key]);
      const fingerprint = digestOf(request);
      const context = sealContext(keyDigest);
      const inTransaction = async (trx: Knex.Transaction) => {
        if (!(await store.tryLockKey(trx, keyDigest))) {
          throw new ApiError('IDEMPOTENCY_KEY_IN_USE', { retryAfter: 1 });
        }
        const known = await store.findResponse(trx, keyDigest, clock.now());
        if (known) await authorizeReplay?.();
        if (known && !known.fingerprint.equals(fingerprint)) throw new ApiError('IDEMPOTENCY_KEY_REUSED');
        if (known)
          return { response: await unpack(keyring.open(known.answer_sealed, context)), replayed: true };
        const response = await work();
        await store.insertResponse(trx, {
          key_digest: keyDigest,
          fingerprint,
          answer_sealed: keyring.seal(await pack(response), context),
          expires_at: new Date(clock.now().getTime() + REMEMBERED_MS),
        });
        return { response, replayed: false };
      };
      return limit.run(currentTenant(owner), () => inOneTransaction(inTransaction));
    },

    clearExpired: () => store.clearExpiredResponses(knex, clock.now(), CLEARED_AT_ONCE),

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

/** SHA-256 over several parts, hashed so that text cannot move from one part to the next. */
function digestOf(parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(createHash('sha256').update(part).digest());
  return hash.digest();
}

async function pack(response: RecordedResponse): Promise<Buffer> {
  if (response.text.length <= SERIALIZED_AT_ONCE) return promisify(gzip)(JSON.stringify(response));
  const packing = createGzip();
  const [packed] = await Promise.all([buffer(packing), pipeline(serialized(response), packing)]);
  return packed;
}

/** A response as JSON in parts, because one of many keys would block the event loop. */
function* serialized({ text, ...rest }: RecordedResponse): Generator<string> {
  yield JSON.stringify({ ...rest, text: '' }).slice(0, -'"}'.length);
  for (let start = 0; start < text.length; start += SERIALIZED_AT_ONCE)
    yield JSON.stringify(text.slice(start, start + SERIALIZED_AT_ONCE)).slice(1, -1);
  yield '"}';
}

async function unpack(packed: Buffer): Promise<RecordedResponse> {
  return JSON.parse((await promisify(gunzip)(packed)).toString()) as RecordedResponse;
}
