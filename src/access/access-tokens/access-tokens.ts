import type { Knex } from 'knex';
import type { Developers } from '../../accounts/developers/developers.ts';
import type { Clock } from '../../platform/clock.ts';
import { tokenDigest } from '../../foundation/tokens/tokens.ts';
import * as store from './access-token-store.ts';

const BATCH_SIZE = 1000;

/** An access token of the authorization server that is about to be stored. */
export interface NewAccessToken {
  readonly clientId: string;
  /** The developer that the client acts for, if any. */
  readonly developerId: string | null;
  /** The agent whose assertion it was issued for, if any. */
  readonly agentId: string | null;
  /** The developer's consent; null for a token without consent. */
  readonly grantId: string | null;
  /** As granted, including those of OpenID Connect. */
  readonly scopes: readonly string[];
  /** The resource that the token is for (RFC 8707). */
  readonly audience: string;
  readonly expiresAt: Date;
}

export interface AccessToken extends Omit<NewAccessToken, 'scopes'> {
  readonly tokenDigest: Buffer;
  readonly scopes: readonly string[];
  readonly issuedAt: Date;
  /** Whether the administrator has suspended the developer: the caller refuses the request. */
  readonly suspended: boolean;
}

/** Access tokens of the authorization server. A token without its row is not valid, even with a valid signature. */
export interface AccessTokens {
  /** Stores the digest of an issued token. */
  register(db: Knex, token: string, issued: NewAccessToken): Promise<void>;
  /** Looks up a valid token; undefined if it is not valid. */
  authenticate(token: string): Promise<AccessToken | undefined>;
  /** Looks up a valid token by its SHA-256. */
  find(digest: Buffer): Promise<AccessToken | undefined>;
  /** Deletes tokens: requests that begin after the transaction are refused. @returns how many */
  revoke(
    db: Knex,
    which:
      | { readonly tokenDigest: Buffer }
      | { readonly grantId: string }
      | { readonly agentId: string }
      | { readonly clientId: string },
  ): Promise<number>;
  /** Deletes expired tokens, one batch per call. @returns how many */
  clearExpired(): Promise<number>;
}

export function createAccessTokens({
  knex,
  developers,
  clock,
}: {
  readonly knex: Knex;
  readonly developers: Pick<Developers, 'suspensionOf'>;
  readonly clock: Clock;
}): AccessTokens {
  async function find(digest: Buffer): Promise<AccessToken | undefined> {
    const suspension = developers.suspensionOf(knex, 'access_tokens.developer_id');
    const row = await store.findAccessToken(knex, digest, suspension);
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
    clearExpired: () => store.clearExpiredTokens(knex, clock.now(), BATCH_SIZE),
  };
}

function toAccessToken(row: store.CheckedTokenRow): AccessToken {
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
    suspended: row.suspended_at !== null,
  };
}
