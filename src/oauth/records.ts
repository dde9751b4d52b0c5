import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import type { AdapterPayload } from 'oidc-provider';
import type { AccessTokens } from '../access-tokens/access-tokens.ts';
import type { Clock } from '../platform/clock.ts';
import { createResealer } from '../platform/database/reseal.ts';
import type { Keyring } from '../platform/keyring.ts';
import { libraryNow } from './library-clock.ts';
import * as store from './record-store.ts';

const CLEARED_AT_ONCE = 1000;

/** What is issued under a grant: without it it is nothing. */
const UNDER_GRANT = ['AuthorizationCode', 'RefreshToken', 'DeviceCode'];
/** Moments of a payload, in seconds of the machine's clock, which is the library's. */
const MOMENTS = ['iat', 'exp', 'iiat', 'authTime', 'loginTs'] as const;

/** What the authorization server remembers, by its identifiers, of which only digests are kept. */
export interface Records {
  /** @param seconds after which it is nothing; undefined for never */
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
  /** @returns whether it was there and had not been used before */
  consume(model: string, id: string): Promise<boolean>;
  destroy(model: string, id: string): Promise<void>;
  /**
   * Ends a grant with everything that was issued under it, and what is just being issued.
   * @returns whose and to which client it was; undefined when it was over already
   */
  revokeGrant(
    trx: Knex.Transaction,
    grantId: string,
    accountId?: string,
  ): Promise<{ readonly accountId: string; readonly clientId: string } | undefined>;
  /** Ends everything of a client. */
  revokeClient(trx: Knex.Transaction, clientId: string): Promise<void>;
  /** Whether a grant is there, and then it stays until the transaction ends. */
  holdGrant(trx: Knex.Transaction, grantId: string): Promise<boolean>;
  /** Of a developer's grants, in one order for everybody. */
  grantIdsOf(trx: Knex.Transaction, accountId: string): Promise<string[]>;
  /** The live grants of a developer, newest first. */
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

/** The payload as it is sealed. */
interface Sealed {
  readonly payload: AdapterPayload;
  /** By how many milliseconds the machine's clock was ahead of ours. */
  readonly ahead: number;
}

export function createRecords({ knex, keyring, accessTokens, clock }: Dependencies): Records {
  const ahead = () => libraryNow() - clock.now().getTime();

  function open(row: store.RecordRow): AdapterPayload {
    const text = keyring.open(row.sealed, sealContext(row.id_digest)).toString();
    const sealed = JSON.parse(text) as Sealed;
    const payload = sealed.payload as Record<string, unknown>;
    // The library measures by the machine's clock what is due by ours.
    const shift = Math.round((ahead() - sealed.ahead) / 1000);
    for (const moment of MOMENTS) {
      if (typeof payload[moment] === 'number') payload[moment] += shift;
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
      if (!UNDER_GRANT.includes(model) || grantId === undefined) return store.upsertRecord(db, row);
      await db.transaction(async (trx) => {
        // It may have been revoked since it was looked at: then this is dead from the start.
        if (await store.holdGrant(trx, grantId)) await store.upsertRecord(trx, row);
      });
    },

    async find(model, by) {
      const row = await store.findRecord(knex, model, found(by));
      if (!row) return undefined;
      // Of a device's code the library tells that it has expired.
      if (model !== 'DeviceCode' && row.expires_at && row.expires_at <= clock.now()) return undefined;
      return open(row);
    },

    consume: (model, id) => store.consumeRecord(knex, model, digest(id), clock.now()),
    destroy: (model, id) => store.deleteRecord(knex, model, digest(id)),

    async revokeGrant(trx, grantId, accountId) {
      const grant = await store.deleteGrant(trx, grantId, accountId);
      if (!grant) return undefined;
      // In statements of their own, which see what was written until the grant was gone.
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

    holdGrant: store.holdGrant,
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

    clearExpired: () => store.clearExpiredRecords(knex, clock.now(), CLEARED_AT_ONCE),

    reseal: createResealer<Buffer>(knex, keyring, {
      table: 'oauth_records',
      id: 'id_digest',
      column: 'sealed',
      context: sealContext,
    }),
  };
}

function found(
  by: { readonly id: string } | { readonly uid: string } | { readonly userCode: string },
): store.FoundBy {
  if ('id' in by) return { id_digest: digest(by.id) };
  return 'uid' in by ? { uid_digest: digest(by.uid) } : { user_code_digest: digest(by.userCode) };
}

function digest(identifier: string): Buffer {
  return hash('sha256', identifier, 'buffer');
}

function sealContext(idDigest: Buffer): string {
  return `oauth-record:${idDigest.toString('hex')}`;
}
