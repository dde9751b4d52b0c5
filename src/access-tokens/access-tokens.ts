import type { Knex } from 'knex';
import type { Clock } from '../platform/clock.ts';
import { tokenDigest } from '../tokens/tokens.ts';
import * as store from './access-token-store.ts';

const CLEARED_AT_ONCE = 1000;

/** What a client of the authorization server has been given. */
export interface NewAccessToken {
  readonly clientId: string;
  /** For whom the client acts; null for nobody. */
  readonly developerId: string | null;
  /** Of the agent whose assertion it was issued for. */
  readonly agentId: string | null;
  /** What the developer has consented to; null where nobody was asked. */
  readonly grantId: string | null;
  /** As they were granted: those of OpenID Connect may be among them. */
  readonly scopes: readonly string[];
  /** The resource that it is for (RFC 8707). */
  readonly audience: string;
  readonly expiresAt: Date;
}

export interface AccessToken extends Omit<NewAccessToken, 'scopes'> {
  readonly tokenDigest: Buffer;
  readonly scopes: readonly string[];
  readonly issuedAt: Date;
}

/** Access tokens of the authorization server. A token without its row is nothing, whatever it says and whoever signed it. */
export interface AccessTokens {
  /** Keeps the digest of a token that was issued. */
  register(db: Knex, token: string, issued: NewAccessToken): Promise<void>;
  /** Whom a token stands for now; undefined when it is nobody's. */
  authenticate(token: string): Promise<AccessToken | undefined>;
  /** The same by its SHA-256. */
  find(digest: Buffer): Promise<AccessToken | undefined>;
  /** No request that begins after the caller's transaction is let in with them. @returns how many there were */
  revoke(
    db: Knex,
    which:
      | { readonly tokenDigest: Buffer }
      | { readonly grantId: string }
      | { readonly agentId: string }
      | { readonly clientId: string },
  ): Promise<number>;
  /** Deletes some expired ones. @returns how many */
  clearExpired(): Promise<number>;
}

export function createAccessTokens({
  knex,
  clock,
}: {
  readonly knex: Knex;
  readonly clock: Clock;
}): AccessTokens {
  async function find(digest: Buffer): Promise<AccessToken | undefined> {
    const row = await store.findAccessToken(knex, digest);
    return row && row.expires_at > clock.now() ? toAccessToken(row) : undefined;
  }

  return {
    register: (db, token, issued) =>
      store.insertAccessToken(db, {
        token_digest: tokenDigest(token),
        client_id: issued.clientId,
        developer_id: issued.developerId,
        agent_id: issued.agentId,
        grant_id: issued.grantId,
        scopes: [...issued.scopes],
        audience: issued.audience,
        created_at: clock.now(),
        expires_at: issued.expiresAt,
      }),
    authenticate: (token) => find(tokenDigest(token)),
    find,
    revoke(db, which) {
      if ('tokenDigest' in which) return store.deleteAccessTokens(db, { token_digest: which.tokenDigest });
      if ('grantId' in which) return store.deleteAccessTokens(db, { grant_id: which.grantId });
      if ('agentId' in which) return store.deleteAccessTokens(db, { agent_id: which.agentId });
      return store.deleteAccessTokens(db, { client_id: which.clientId });
    },
    clearExpired: () => store.clearExpiredTokens(knex, clock.now(), CLEARED_AT_ONCE),
  };
}

function toAccessToken(row: store.AccessTokenRow): AccessToken {
  return {
    tokenDigest: row.token_digest,
    clientId: row.client_id,
    developerId: row.developer_id,
    agentId: row.agent_id,
    grantId: row.grant_id,
    scopes: row.scopes,
    audience: row.audience,
    issuedAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
