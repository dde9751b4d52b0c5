import type { Knex } from 'knex';
import { LIFETIME } from '../applications/application-state.ts';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import type { Developers, Scope } from '../developers/developers.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import type { LastUses } from '../../foundation/last-uses/last-uses.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Random } from '../../platform/random.ts';
import { tokenDigest } from '../../foundation/tokens/tokens.ts';
import * as store from './api-token-store.ts';

/** How long an expired token is still listed. */
const REMEMBERED_MS = 30 * 24 * 60 * 60 * 1000;
const CLEARED_AT_ONCE = 1000;

export interface NewApiToken {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Null means never. */
  readonly expiresAt: Date | null;
}

export interface ApiToken extends NewApiToken {
  readonly tokenId: string;
  readonly createdAt: Date;
  /** Accurate to about a minute; null for a token that was never used. */
  readonly lastUsedAt: Date | null;
}

/** The identity behind a valid token. */
export interface ApiTokenIdentity {
  readonly tokenId: string;
  readonly developerId: string;
  /** Null for a token of the developer. */
  readonly resellerId: string | null;
  readonly scopes: readonly Scope[];
  readonly issuedAt: Date;
  /** Null means never. */
  readonly expiresAt: Date | null;
  /** Whether the administrator has suspended the developer: the caller refuses the request. */
  readonly suspended: boolean;
}

/** Long-lived bearer tokens with chosen scopes, for programs of developers and of their resellers. */
export interface ApiTokens {
  /**
   * Creates a token. It has no more scopes, and lives no longer, than the credential that creates it.
   * @param held the scopes of that credential
   * @param resellerId the reseller whose token it is, which the caller has checked; null for the developer's
   *   own
   * @returns the token, which is shown once
   * @throws ApiError INSUFFICIENT_SCOPE, UNAUTHORIZED when the creating credential has been revoked
   *   meanwhile; VALIDATION_FAILED when the token would expire in the past or after that credential
   */
  create(
    actor: Actor,
    held: readonly Scope[],
    wanted: NewApiToken,
    resellerId?: string | null,
  ): Promise<{ readonly apiToken: ApiToken; readonly token: string }>;
  list(developerId: string, resellerId: string | null, page: PageRequest): Promise<Page<ApiToken>>;
  /**
   * Revokes a token: it authenticates no request that begins after this returns.
   * @throws ApiError TOKEN_NOT_FOUND
   */
  revoke(actor: Actor, tokenId: string, resellerId?: string | null): Promise<void>;
  /** Revokes every token of a developer and of their resellers. */
  revokeAll(actor: Actor): Promise<void>;
  /** Revokes every token of a reseller who is deleted, inside the caller's transaction. */
  revokeOfReseller(trx: Knex.Transaction, resellerId: string): Promise<void>;
  /**
   * Revokes the token that makes the request.
   * @throws ApiError UNAUTHORIZED when it has already been revoked
   */
  revokeOwn(actor: Actor): Promise<void>;
  /**
   * Locks the actor's credential for share, for creating what outlives it: revoking it waits until the
   * caller's transaction ends.
   * @throws ApiError UNAUTHORIZED when it has ended since the request was authenticated
   */
  lockMakerForShare(trx: Knex.Transaction, actor: Actor): Promise<void>;
  /** @returns the identity behind a token; undefined when the token is not valid */
  authenticate(token: string): Promise<ApiTokenIdentity | undefined>;
  /** @returns the identity behind a token with this id; undefined when the token is not valid */
  identityOf(tokenId: string): Promise<ApiTokenIdentity | undefined>;
  /**
   * Locks a token for share: revoking it waits until the caller's transaction ends.
   * @returns whether it exists
   */
  lockForShare(trx: Knex.Transaction, tokenId: string): Promise<boolean>;
  /** Deletes some tokens that expired at least a month ago. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly developers: Pick<Developers, 'lockSessionForShare' | 'suspensionOf'>;
  readonly audit: Audit;
  readonly lastUses: Pick<LastUses, 'of'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
}

export function createApiTokens(deps: Dependencies): ApiTokens {
  const { knex, developers, audit, lastUses, clock, random, newId } = deps;
  const lastUse = lastUses.of('API tokens', { write: (uses) => store.updateLastUses(knex, uses) });

  async function lockMaker(trx: Knex.Transaction, actor: Actor): Promise<store.ApiTokenRow | undefined> {
    await developers.lockSessionForShare(trx, actor);
    if (actor.kind !== 'api_token') return undefined;
    const maker = await store.lockApiTokenForShare(trx, actor.id);
    // It may have been revoked since the request was authenticated: then it must not create anything lasting.
    if (!maker) throw new ApiError('UNAUTHORIZED');
    return maker;
  }

  async function assertMayLive(
    trx: Knex.Transaction,
    actor: Actor,
    expiresAt: Date | null,
    now: Date,
  ): Promise<void> {
    if (expiresAt && !(expiresAt > now && expiresAt <= LIFETIME)) {
      throw invalidMember('/expires_at', 'must be in the future, no later than the year 9999');
    }
    const maker = await lockMaker(trx, actor);
    if (maker?.expires_at && (!expiresAt || expiresAt > maker.expires_at)) {
      throw invalidMember('/expires_at', 'must not be after the expiry of the token that creates this one');
    }
  }

  /** @returns undefined for a token that does not exist or has expired */
  async function find(
    which: Parameters<typeof store.findApiToken>[1],
  ): Promise<ApiTokenIdentity | undefined> {
    const suspension = developers.suspensionOf(knex, 'api_tokens.developer_id');
    const row = await store.findApiToken(knex, which, suspension);
    if (!row || (row.expires_at && row.expires_at <= clock.now())) return undefined;
    lastUse.note(row.token_id);
    return toIdentity(row);
  }

  return {
    async create(actor, held, { name, scopes, expiresAt }, resellerId = null) {
      assertHeld(held, scopes);
      const token = `${resellerId === null ? 'lkd' : 'lkr'}_${random.bytes(32).toString('base64url')}`;
      const row: store.ApiTokenRow = {
        token_id: newId('tok'),
        token_digest: tokenDigest(token),
        developer_id: actor.developerId,
        reseller_id: resellerId,
        name,
        scopes: [...scopes],
        created_at: clock.now(),
        expires_at: expiresAt,
        last_used_at: null,
      };
      await knex.transaction(async (trx) => {
        await assertMayLive(trx, actor, expiresAt, row.created_at);
        await store.insertApiToken(trx, row);
        await audit.record(trx, actor, {
          action: 'api_token.created',
          target: row.token_id,
          data: { name, scopes, expires_at: expiresAt?.toISOString() ?? null, reseller_id: resellerId },
        });
      });
      return { apiToken: toApiToken(row), token };
    },

    async list(developerId, resellerId, request) {
      const page = await readPage(
        request,
        'tok',
        (row: store.ApiTokenRow) => row.token_id,
        (range) => store.listApiTokens(knex, { developerId, resellerId }, range),
      );
      return { data: page.data.map(toApiToken), nextCursor: page.nextCursor };
    },

    async revoke(actor, tokenId, resellerId = null) {
      await knex.transaction(async (trx) => {
        const owner = { developerId: actor.developerId, resellerId };
        if (!(await store.deleteApiToken(trx, owner, tokenId))) throw new ApiError('TOKEN_NOT_FOUND');
        await audit.record(trx, actor, { action: 'api_token.revoked', target: tokenId });
      });
    },

    async revokeAll(actor) {
      await knex.transaction(async (trx) => {
        const data = { count: await store.deleteApiTokensOf(trx, actor.developerId) };
        await audit.record(trx, actor, { action: 'api_tokens.revoked', data });
      });
    },

    revokeOfReseller: store.deleteApiTokensOfReseller,

    async revokeOwn(actor) {
      await knex.transaction(async (trx) => {
        const owner = { developerId: actor.developerId, resellerId: null };
        if (!(await store.deleteApiToken(trx, owner, actor.id))) throw new ApiError('UNAUTHORIZED');
        await audit.record(trx, actor, { action: 'api_token.revoked', target: actor.id });
      });
    },

    lockMakerForShare: async (trx, actor) => void (await lockMaker(trx, actor)),

    authenticate: (token) => find({ token_digest: tokenDigest(token) }),
    identityOf: (tokenId) => find({ token_id: tokenId }),
    lockForShare: async (trx, tokenId) => (await store.lockApiTokenForShare(trx, tokenId)) !== undefined,

    clearExpired: () =>
      store.clearExpiredTokens(knex, new Date(clock.now().getTime() - REMEMBERED_MS), CLEARED_AT_ONCE),
  };
}

function toApiToken(row: store.ApiTokenRow): ApiToken {
  return {
    tokenId: row.token_id,
    name: row.name,
    scopes: row.scopes as Scope[],
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}

function toIdentity(row: store.CheckedTokenRow): ApiTokenIdentity {
  return {
    tokenId: row.token_id,
    developerId: row.developer_id,
    resellerId: row.reseller_id,
    scopes: row.scopes as Scope[],
    issuedAt: row.created_at,
    expiresAt: row.expires_at,
    suspended: row.suspended_at !== null,
  };
}

/** @throws ApiError INSUFFICIENT_SCOPE when the scopes of a new token exceed those of the one that creates it */
function assertHeld(held: readonly Scope[], scopes: readonly Scope[]): void {
  const missing = scopes.filter((scope) => !held.includes(scope));
  if (missing.length === 0) return;
  throw new ApiError('INSUFFICIENT_SCOPE', {
    detail: `A token cannot grant scopes that it does not have: ${missing.join(' ')}.`,
    members: { scope: missing.join(' ') },
  });
}
