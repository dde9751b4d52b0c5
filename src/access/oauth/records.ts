import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import type { AdapterPayload } from 'oidc-provider';
import type { AccessTokens } from '../access-tokens/access-tokens.ts';
import type { Clock } from '../../platform/clock.ts';
import { createResealer } from '../../platform/database/reseal.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { providerNow } from './provider-clock.ts';
import * as store from './record-store.ts';

const BATCH_SIZE = 1000;

/** The models that are not valid without their grant. */
const GRANT_MODELS = ['AuthorizationCode', 'RefreshToken', 'DeviceCode'];
/** The times in a payload, in seconds of the machine's clock, which oidc-provider uses. */
const TIMESTAMPS = ['iat', 'exp', 'iiat', 'authTime', 'loginTs'] as const;

/** The records of the authorization server, stored under the digests of their identifiers. */
export interface Records {
  /** @param seconds until it expires; undefined for never */
  put(
    db: Knex,
    model: string,
    id: string,
    payload: AdapterPayload,
    seconds: number | undefined,
  ): Promise<void>;
  find(
    model: string,
    by: { readonly id: string } | { readonly uid: string } | { readonly userCode: string },
  ): Promise<AdapterPayload | undefined>;
  /** @returns whether it existed and had not been used */
  consume(model: string, id: string): Promise<boolean>;
  destroy(model: string, id: string): Promise<void>;
  /**
   * Revokes a grant with everything issued under it, including what is being issued concurrently.
   * @returns the grant's account and client; undefined if it did not exist
   */
  revokeGrant(
    trx: Knex.Transaction,
    grantId: string,
    accountId?: string,
  ): Promise<{ readonly accountId: string; readonly clientId: string } | undefined>;
  /** Revokes all grants and records of a client. */
  revokeClient(trx: Knex.Transaction, clientId: string): Promise<void>;
  /** Whether a grant is there, and then it stays until the transaction ends. */
  lockGrantForShare(trx: Knex.Transaction, grantId: string): Promise<boolean>;
  /** The ids of a developer's grants, always in the same order. */
  grantIdsOf(trx: Knex.Transaction, accountId: string): Promise<string[]>;
  /** The unexpired grants of a developer, newest first. */
  listGrants(
    accountId: string,
    page: { readonly before: string | undefined; readonly limit: number },
  ): Promise<StoredGrant[]>;
  clearExpired(): Promise<number>;
  reseal(): Promise<number>;
}

export interface StoredGrant {
  readonly grantId: string;
  readonly clientId: string;
  readonly scope: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

interface Dependencies {
  readonly knex: Knex;
  readonly keyring: Keyring;
  readonly accessTokens: Pick<AccessTokens, 'revoke'>;
  readonly clock: Clock;
}

/** What is sealed. */
interface Sealed {
  readonly payload: AdapterPayload;
  /** By how many milliseconds the machine's clock was ahead of the service's. */
  readonly ahead: number;
}

export function createRecords({ knex, keyring, accessTokens, clock }: Dependencies): Records {
  const ahead = () => providerNow() - clock.now().getTime();

  function open(row: store.RecordRow): AdapterPayload {
    const text = keyring.open(row.sealed, sealContext(row.id_digest)).toString();
    const sealed = JSON.parse(text) as Sealed;
    const payload = sealed.payload as Record<string, unknown>;
    // oidc-provider compares these times with the machine's clock.
    const shift = Math.round((ahead() - sealed.ahead) / 1000);
    for (const name of TIMESTAMPS) {
      if (typeof payload[name] === 'number') payload[name] += shift;
    }
    if (row.consumed_at) payload['consumed'] = Math.floor(row.consumed_at.getTime() / 1000);
    return payload as AdapterPayload;
  }

  return {
    async put(db, model, id, payload, seconds) {
      const now = clock.now();
      const idDigest = digest(id);
      const grantId = model === 'Grant' ? id : payload.grantId;
      const text = JSON.stringify({ payload, ahead: ahead() } satisfies Sealed);
      const row = {
        model,
        id_digest: idDigest,
        grant_id: grantId ?? null,
        user_code_digest: payload.userCode === undefined ? null : digest(payload.userCode),
        uid_digest: payload.uid === undefined ? null : digest(payload.uid),
        account_id: payload.accountId ?? null,
        client_id: payload.clientId ?? null,
        sealed: keyring.seal(Buffer.from(text), sealContext(idDigest)),
        created_at: now,
        expires_at: seconds === undefined ? null : new Date(now.getTime() + seconds * 1000),
      };
      if (!GRANT_MODELS.includes(model) || grantId === undefined) return store.upsertRecord(db, row);
      await db.transaction(async (trx) => {
        // If the grant was revoked in between, the record is not stored.
        if (await store.lockGrantForShare(trx, grantId)) await store.upsertRecord(trx, row);
      });
    },

    async find(model, by) {
      const row = await store.findRecord(knex, model, keyOf(by));
      if (!row) return undefined;
      // For a device code, oidc-provider itself reports that it has expired.
      if (model !== 'DeviceCode' && row.expires_at && row.expires_at <= clock.now()) return undefined;
      return open(row);
    },

    consume: (model, id) => store.consumeRecord(knex, model, digest(id), clock.now()),
    destroy: (model, id) => store.deleteRecord(knex, model, digest(id)),

    async revokeGrant(trx, grantId, accountId) {
      const grant = await store.deleteGrant(trx, grantId, accountId);
      if (!grant) return undefined;
      // Separate statements see what was written until the grant was deleted.
      await store.deleteRecords(trx, { grant_id: grantId });
      await accessTokens.revoke(trx, { grantId });
      return { accountId: grant.account_id!, clientId: grant.client_id! };
    },

    async revokeClient(trx, clientId) {
      for (const grantId of await store.listGrantIds(trx, { client_id: clientId })) {
        await store.deleteGrant(trx, grantId);
        await store.deleteRecords(trx, { grant_id: grantId });
      }
      await store.deleteRecords(trx, { client_id: clientId });
      await accessTokens.revoke(trx, { clientId });
    },

    lockGrantForShare: store.lockGrantForShare,
    grantIdsOf: (trx, accountId) => store.listGrantIds(trx, { account_id: accountId }),

    async listGrants(accountId, page) {
      const rows = await store.listGrants(knex, accountId, clock.now(), page);
      return rows.map((row) => ({
        grantId: row.grant_id!,
        clientId: row.client_id!,
        scope: (open(row) as { readonly openid?: { readonly scope?: string } }).openid?.scope ?? '',
        createdAt: row.created_at,
        expiresAt: row.expires_at!,
      }));
    },

    clearExpired: () => store.clearExpiredRecords(knex, clock.now(), BATCH_SIZE),

    reseal: createResealer<Buffer>(knex, keyring, {
      table: 'oauth_records',
      id: 'id_digest',
      column: 'sealed',
      context: sealContext,
    }),
  };
}

function keyOf(
  by: { readonly id: string } | { readonly uid: string } | { readonly userCode: string },
): store.RecordKey {
  if ('id' in by) return { id_digest: digest(by.id) };
  return 'uid' in by ? { uid_digest: digest(by.uid) } : { user_code_digest: digest(by.userCode) };
}

function digest(identifier: string): Buffer {
  return hash('sha256', identifier, 'buffer');
}

function sealContext(idDigest: Buffer): string {
  return `oauth-record:${idDigest.toString('hex')}`;
}
