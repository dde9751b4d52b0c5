import { LRUCache } from 'lru-cache';
import type { KeyObject } from 'node:crypto';
import type { Knex } from 'knex';
import type pg from 'pg';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Clock } from '../../platform/clock.ts';
import { createBatchedLookup } from '../../platform/database/batched-lookup.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Random } from '../../platform/random.ts';
import {
  earliestRotation,
  lastRetired,
  serialOf,
  surplusOf,
  type KeyState,
} from './application-key-state.ts';
import * as store from './application-key-store.ts';
import { newKeyPair, readPrivateKey, signEd25519 } from './ed25519.ts';
import { toJws, type ApplicationSigner } from './jws.ts';

/** A key of an application, as its developer and its programs see it. */
export interface ApplicationKey {
  /** The JWK thumbprint (RFC 7638). */
  readonly kid: string;
  /** 32 bytes (RFC 8032). */
  readonly publicKey: Buffer;
  readonly state: KeyState;
  readonly createdAt: Date;
  readonly signingSince: Date | null;
  readonly retiredAt: Date | null;
}

/**
 * The Ed25519 keys of applications. Programs pin two of them, the signing key and the next one, and recognize this
 * service by its signatures.
 */
export interface ApplicationKeys {
  /** Creates the keys of a new application inside the caller's transaction. */
  createFor(trx: Knex.Transaction, appId: string): Promise<readonly ApplicationKey[]>;
  /** All keys of an existing application, the oldest first. Creates those of an application from before. */
  list(db: Knex, appId: string): Promise<readonly ApplicationKey[]>;
  /** The key that signs for an application now; undefined for an application without keys, or an unknown one. */
  signerOf(appId: string): Promise<ApplicationSigner | undefined>;
  /** The key that has last signed on this node, for responses without a database. */
  lastSignerOf(appId: string): ApplicationSigner | undefined;
  /**
   * Statements about the current keys of an existing application: one by the signing key, and one by each previous
   * key, for programs that know no newer one.
   */
  statements(appId: string): Promise<readonly string[]>;
  /**
   * Makes the next key the signing key, creates another next key, and retires the oldest of six previous keys, inside
   * the caller's transaction, which has locked the application.
   * @param force rotates also before programs have had the time to pin the next key
   * @throws ApiError NEXT_KEY_TOO_YOUNG
   */
  rotate(trx: Knex.Transaction, appId: string, force: boolean): Promise<readonly ApplicationKey[]>;
  /**
   * Deletes the private part of a key, inside the caller's transaction, which has locked the application. Another next
   * key replaces a next key.
   * @throws ApiError APPLICATION_KEY_NOT_FOUND; APPLICATION_KEY_IN_USE for the signing key
   */
  retire(trx: Knex.Transaction, appId: string, kid: string): Promise<readonly ApplicationKey[]>;
  /** Encrypts some private keys under the current master key. @returns how many */
  reseal(): Promise<number>;
}

/** A parsed private key takes some hundred bytes. */
const MOST_PARSED = 10_000;
const STATEMENT_TYPE = 'latchkey-keys+jws';

interface Dependencies {
  readonly knex: Knex;
  readonly pool: pg.Pool;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
}

export function createApplicationKeys(deps: Dependencies): ApplicationKeys {
  const { knex, pool, keyring, clock, random } = deps;
  const lookup = createBatchedLookup<string, store.SealedKey>({
    pool,
    textOf: (appId) => appId,
    read: store.readSigningKeys,
  });
  // By the sealed bytes, so that a key which was read from the database is never mistaken for another one.
  const parsed = new LRUCache<string, KeyObject>({ max: MOST_PARSED });
  const lastSigners = new LRUCache<string, ApplicationSigner>({ max: MOST_PARSED });

  function toSigner(appId: string, kid: string, sealed: Buffer): ApplicationSigner {
    const bytes = sealed.toString('latin1');
    let key = parsed.get(bytes);
    if (!key) {
      key = readPrivateKey(keyring.open(sealed, store.keyContext(appId, kid)));
      parsed.set(bytes, key);
    }
    return { kid, sign: (text) => signEd25519(key, text) };
  }

  function newRow(appId: string, state: 'signing' | 'next'): store.ApplicationKeyRow {
    const { kid, publicKey, privateKey } = newKeyPair(random);
    const now = clock.now();
    return {
      kid,
      app_id: appId,
      state,
      public_key: publicKey,
      private_key_sealed: keyring.seal(privateKey, store.keyContext(appId, kid)),
      created_at: now,
      signing_since: state === 'signing' ? now : null,
      retired_at: null,
    };
  }

  async function createFor(trx: Knex.Transaction, appId: string): Promise<readonly ApplicationKey[]> {
    await store.insertKeys(trx, [newRow(appId, 'signing'), newRow(appId, 'next')]);
    return (await store.listKeys(trx, appId)).map(toKey);
  }

  async function rowsOf(db: Knex, appId: string): Promise<store.ApplicationKeyRow[]> {
    const rows = await store.listKeys(db, appId);
    if (rows.length > 0) return rows;
    await db.transaction((trx) => createFor(trx, appId));
    return store.listKeys(db, appId);
  }

  async function signerOf(appId: string): Promise<ApplicationSigner | undefined> {
    const found = await lookup(appId);
    if (!found) return undefined;
    const signer = toSigner(appId, found.kid, found.sealed);
    lastSigners.set(appId, signer);
    return signer;
  }

  return {
    createFor,
    signerOf,
    list: async (db, appId) => (await rowsOf(db, appId)).map(toKey),
    lastSignerOf: (appId) => lastSigners.get(appId),

    async statements(appId) {
      const rows = await rowsOf(knex, appId);
      const payload = {
        app_id: appId,
        issued_at: Math.floor(clock.now().getTime() / 1000),
        serial: serialOf(rows),
        keys: rows.filter(({ state }) => state !== 'retired').map(toStated),
        retired: lastRetired(rows).map(({ kid }) => kid),
      };
      const newestFirst = [...rows].reverse();
      const signing = newestFirst.filter(({ state }) => state === 'signing');
      const previous = newestFirst.filter(({ state }) => state === 'previous');
      return [...signing, ...previous].map(({ kid, private_key_sealed: sealed }) =>
        toJws(toSigner(appId, kid, sealed!), STATEMENT_TYPE, payload),
      );
    },

    async rotate(trx, appId, force) {
      const rows = await rowsOf(trx, appId);
      const next = rows.find(({ state }) => state === 'next')!;
      const signing = rows.find(({ state }) => state === 'signing')!;
      const earliest = earliestRotation(next);
      if (!force && clock.now() < earliest) {
        throw new ApiError('NEXT_KEY_TOO_YOUNG', { members: { not_before: earliest.toISOString() } });
      }
      await store.updateKey(trx, signing.kid, { state: 'previous' });
      await store.updateKey(trx, next.kid, { state: 'signing', signing_since: clock.now() });
      await store.insertKeys(trx, [newRow(appId, 'next')]);
      for (const { kid } of surplusOf(rows)) await store.updateKey(trx, kid, retirement(clock.now()));
      return (await store.listKeys(trx, appId)).map(toKey);
    },

    async retire(trx, appId, kid) {
      const row = (await rowsOf(trx, appId)).find((each) => each.kid === kid);
      if (!row || row.state === 'retired') throw new ApiError('APPLICATION_KEY_NOT_FOUND');
      if (row.state === 'signing') throw new ApiError('APPLICATION_KEY_IN_USE');
      await store.updateKey(trx, kid, retirement(clock.now()));
      if (row.state === 'next') await store.insertKeys(trx, [newRow(appId, 'next')]);
      return (await store.listKeys(trx, appId)).map(toKey);
    },

    reseal: store.createKeyResealer(knex, keyring),
  };
}

function retirement(now: Date) {
  return { state: 'retired', private_key_sealed: null, retired_at: now } as const;
}

function toKey(row: store.ApplicationKeyRow): ApplicationKey {
  return {
    kid: row.kid,
    publicKey: row.public_key,
    state: row.state,
    createdAt: row.created_at,
    signingSince: row.signing_since,
    retiredAt: row.retired_at,
  };
}

/** A key in a statement. */
function toStated({ kid, public_key: publicKey, state }: store.ApplicationKeyRow) {
  return { kid, alg: 'EdDSA', public_key: publicKey.toString('base64url'), state };
}
