import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { SignJWT, type JWK, type JWTPayload } from 'jose';
import type { Knex } from 'knex';
import type { Actor, Audit } from '../audit/audit.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Clock } from '../../platform/clock.ts';
import { takeAdvisoryLock } from '../../platform/database/advisory-lock.ts';
import type { Database } from '../../platform/database/index.ts';
import { createResealer } from '../../platform/database/reseal.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Random } from '../../platform/random.ts';
import { startPeriodicTask } from '../../platform/periodic-task.ts';
import {
  isDue,
  PUBLISHED_AHEAD_MS,
  publishedKeys,
  type SigningAlg,
  type SigningKeyState,
} from './signing-key-state.ts';
import * as store from './signing-key-store.ts';

const generate = promisify(generateKeyPair);

/** How often a node reloads the keys, in case a notification is lost. */
const REFRESHED_EVERY_MS = 15_000;
/** How long a removal is remembered: longer than the lifetime of anything that the key signed. */
const REMEMBERED_MS = 30 * 24 * 60 * 60 * 1000;
const LOCK = 'signing-keys';

export interface SigningKey {
  /** Its `kid`. */
  readonly keyId: string;
  readonly alg: SigningAlg;
  readonly publicJwk: JWK;
  readonly createdAt: Date;
  readonly activeFrom: Date;
  readonly state: SigningKeyState;
}

/**
 * Keys for signatures that others verify: access tokens (ES256), ID tokens (RS256) and security events. They
 * are stored in the database, rotated with an overlap, and published at `/.well-known/jwks.json`.
 */
export interface SigningKeys {
  /**
   * Signs a JWS (RFC 7515) with the current ES256 key.
   * @param typ the `typ` of its header, such as `at+jwt`
   */
  sign(typ: string, payload: JWTPayload): Promise<string>;
  /**
   * Whether a key has not been removed. Removals on other nodes take effect immediately, or within 15 seconds
   * if the notification is lost. An unknown key is trusted, because another node may have just created it.
   */
  isTrusted(keyId: string): boolean;
  /** The published keys, newest first. */
  published(): readonly SigningKey[];
  /**
   * Creates a key of an algorithm unless one exists. RS256 keys are slow to create, so they are created when
   * first needed.
   */
  ensure(alg: SigningAlg): Promise<void>;
  /**
   * The published keys with their private parts (RFC 7517), for a library that signs itself; signing keys
   * come first.
   */
  privateJwks(): readonly JWK[];
  /**
   * Creates a new key of each algorithm, published now and signing in ten minutes.
   * @returns the published keys
   */
  rotate(actor: Actor): Promise<readonly SigningKey[]>;
  /**
   * Stops trusting a key; a new one replaces it if it was the signing key.
   * @throws ApiError SIGNING_KEY_NOT_FOUND
   */
  remove(actor: Actor, keyId: string): Promise<void>;
  /**
   * Rotates keys that are older than 90 days, and deletes keys that are no longer published.
   * @returns how many
   */
  maintain(): Promise<number>;
  /** Encrypts keys under the current master key. @returns how many */
  reseal(): Promise<number>;
  /** Keeps the keys up to date with changes by other nodes. */
  start(): { stop(): Promise<void> };
}

interface Dependencies {
  readonly knex: Knex;
  readonly listen: Database['listen'];
  readonly keyring: Keyring;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

interface Loaded extends Omit<SigningKey, 'state'> {
  readonly key: KeyObject;
}

/** Loads the keys, and creates the one for access tokens unless it exists. */
export async function loadSigningKeys(deps: Dependencies): Promise<SigningKeys> {
  const { knex, listen, keyring, audit, clock, random, logger } = deps;
  let keys: readonly Loaded[] = [];
  let removed: ReadonlyMap<string, Date> = new Map();

  async function load(db: Knex): Promise<void> {
    const known = new Map(keys.map((key) => [key.keyId, key]));
    const rows = await store.listSigningKeys(db);
    keys = rows.flatMap((row) => (row.sealed ? [known.get(row.key_id) ?? open(row, row.sealed)] : []));
    removed = new Map(rows.flatMap((row) => (row.removed_at ? [[row.key_id, row.removed_at]] : [])));
  }

  function open(row: store.SigningKeyRow, sealed: Buffer): Loaded {
    const der = keyring.open(sealed, sealContext(row.key_id));
    return {
      keyId: row.key_id,
      alg: row.alg,
      publicJwk: row.public_jwk,
      createdAt: row.created_at,
      activeFrom: row.active_from,
      key: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
    };
  }

  const published = () => publishedKeys(keys, clock.now());

  function signing(alg: SigningAlg): Loaded {
    const key = published().find((each) => each.alg === alg && each.state === 'signing');
    if (!key) throw new Error(`there is no ${alg} signing key`);
    return key;
  }

  async function insert(trx: Knex.Transaction, alg: SigningAlg, activeFrom: Date): Promise<void> {
    const { privateKey } = await generateFor(alg);
    const keyId = random.bytes(8).toString('base64url');
    await store.insertSigningKey(trx, {
      key_id: keyId,
      alg,
      public_jwk: { ...createPublicKey(privateKey).export({ format: 'jwk' }), kid: keyId, alg, use: 'sig' },
      sealed: keyring.seal(privateKey.export({ format: 'der', type: 'pkcs8' }), sealContext(keyId)),
      created_at: clock.now(),
      active_from: activeFrom,
      removed_at: null,
    });
  }

  /** Changes the keys under a lock of all nodes. */
  async function change<Result>(work: (trx: Knex.Transaction) => Promise<Result>): Promise<Result> {
    const result = await knex.transaction(async (trx) => {
      await takeAdvisoryLock(trx, LOCK);
      await load(trx);
      const done = await work(trx);
      await store.notifyNodes(trx);
      return done;
    });
    await load(knex);
    return result;
  }

  const algs = () => [...new Set(keys.map(({ alg }) => alg))];

  async function addEach(trx: Knex.Transaction, of: readonly SigningAlg[]): Promise<void> {
    for (const alg of of) await insert(trx, alg, new Date(clock.now().getTime() + PUBLISHED_AHEAD_MS));
  }

  async function ensure(alg: SigningAlg): Promise<void> {
    const missing = () => !published().some((key) => key.alg === alg && key.state === 'signing');
    if (!missing()) return;
    await change(async (trx) => {
      if (missing()) await insert(trx, alg, clock.now());
    });
  }

  await load(knex);
  await ensure('ES256');

  return {
    async sign(typ, payload) {
      const { alg, keyId, key } = signing('ES256');
      return new SignJWT(payload).setProtectedHeader({ alg, typ, kid: keyId }).sign(key);
    },
    isTrusted: (keyId) => !removed.has(keyId),
    published: () => published().map(withoutKey),
    ensure,
    privateJwks() {
      const rank = { signing: 0, retired: 1, pending: 2 };
      return published()
        .sort((a, b) => rank[a.state] - rank[b.state])
        .map(({ key, publicJwk }) => ({ ...key.export({ format: 'jwk' }), ...publicJwk }));
    },

    async rotate(actor) {
      await change(async (trx) => {
        await addEach(trx, algs());
        await audit.record(trx, actor, { action: 'signing_keys.rotated' });
      });
      return published().map(withoutKey);
    },

    async remove(actor, keyId) {
      await change(async (trx) => {
        const alg = await store.removeSigningKey(trx, keyId, clock.now());
        if (!alg) throw new ApiError('SIGNING_KEY_NOT_FOUND');
        const others = publishedKeys(
          keys.filter((key) => key.keyId !== keyId),
          clock.now(),
        );
        if (!others.some((key) => key.alg === alg && key.state === 'signing')) {
          await insert(trx, alg, clock.now());
        }
        await audit.record(trx, actor, { action: 'signing_key.removed', target: keyId });
      });
    },

    async maintain() {
      const now = clock.now();
      const due = () =>
        algs().filter((alg) =>
          isDue(
            keys.filter((key) => key.alg === alg),
            now,
          ),
        );
      const shown = published().map(({ keyId }) => keyId);
      const over = keys.map(({ keyId }) => keyId).filter((keyId) => !shown.includes(keyId));
      const longRemoved = [...removed].filter(([, at]) => now.getTime() - at.getTime() > REMEMBERED_MS);
      const deleted = await store.deleteSigningKeys(knex, [...over, ...longRemoved.map(([keyId]) => keyId)]);
      if (due().length === 0) return deleted;
      return change(async (trx) => {
        const rotated = due();
        await addEach(trx, rotated);
        return deleted + rotated.length;
      });
    },

    reseal: createResealer(knex, keyring, {
      table: 'signing_keys',
      id: 'key_id',
      column: 'sealed',
      context: sealContext,
    }),

    start() {
      const reloading = startPeriodicTask(
        async () => {
          await load(knex);
          return false;
        },
        (error) => logger.warn({ err: error }, 'the signing keys could not be reloaded'),
        { intervalMs: REFRESHED_EVERY_MS },
      );
      const listener = listen([store.CHANNEL], () => reloading.wake());
      return {
        async stop() {
          await listener.close();
          await reloading.stop();
        },
      };
    },
  };
}

async function generateFor(alg: SigningAlg): Promise<{ readonly privateKey: KeyObject }> {
  return alg === 'ES256'
    ? generate('ec', { namedCurve: 'P-256' })
    : generate('rsa', { modulusLength: 2048, publicExponent: 65537 });
}

function withoutKey({ key: _key, ...rest }: Loaded & { readonly state: SigningKeyState }): SigningKey {
  return rest;
}

function sealContext(keyId: string): string {
  return `signing-key:${keyId}`;
}
