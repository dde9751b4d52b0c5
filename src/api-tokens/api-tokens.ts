import type { Knex } from 'knex';
import { LIFETIME } from '../applications/application-state.ts';
import type { Actor, Audit } from '../audit/audit.ts';
import type { Developers, Scope } from '../developers/developers.ts';
import { ApiError, invalidMember } from '../errors/api-error.ts';
import { readPage, type Page, type PageRequest } from '../paging/page.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Random } from '../platform/random.ts';
import { tokenDigest } from '../tokens/tokens.ts';
import * as store from './api-token-store.ts';

/** How long an expired token is still listed. */
const REMEMBERED_MS = 30 * 24 * 60 * 60 * 1000;
const CLEARED_AT_ONCE = 1000;

export interface NewApiToken {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Null is never. */
  readonly expiresAt: Date | null;
}

export interface ApiToken extends NewApiToken {
  readonly tokenId: string;
  readonly createdAt: Date;
}

/** Whom a live token stands for. */
export interface ApiTokenIdentity {
  readonly tokenId: string;
  readonly developerId: string;
  /** Null when it is the developer's own. */
  readonly resellerId: string | null;
  readonly scopes: readonly Scope[];
  readonly issuedAt: Date;
  /** Null is never. */
  readonly expiresAt: Date | null;
}

/** Long-lived bearer tokens for programs, with chosen scopes: those of a developer, and those of his resellers. */
export interface ApiTokens {
  /**
   * Makes a token. It can do no more, and lives no longer, than the credential that it is made with.
   * @param held the scopes of that credential
   * @param resellerId whose token it is; null for the developer's own. The caller knows that the reseller is his.
   * @returns the token, which is shown once
   * @throws ApiError INSUFFICIENT_SCOPE, UNAUTHORIZED when its maker was revoked meanwhile; VALIDATION_FAILED when it would
   *   end in the past or after its maker
   */
  create(
    actor: Actor,
    held: readonly Scope[],
    wanted: NewApiToken,
    resellerId?: string | null,
  ): Promise<{ readonly apiToken: ApiToken; readonly token: string }>;
  list(developerId: string, resellerId: string | null, page: PageRequest): Promise<Page<ApiToken>>;
  /** Revokes a token: no request that begins after this returns is let in with it. @throws ApiError TOKEN_NOT_FOUND */
  revoke(actor: Actor, tokenId: string, resellerId?: string | null): Promise<void>;
  /** Revokes every token of a developer and of his resellers. */
  revokeAll(actor: Actor): Promise<void>;
  /** Revokes the token that acts. @throws ApiError UNAUTHORIZED when it was revoked already */
  revokeOwn(actor: Actor): Promise<void>;
  /**
   * For whoever makes what goes on without its maker: whoever ends the maker, or all that acts for the developer, comes
   * before or after the caller's transaction.
   * @throws ApiError UNAUTHORIZED when it has ended since it was let in
   */
  holdMaker(trx: Knex.Transaction, actor: Actor): Promise<void>;
  /** Whom a token stands for now; undefined when it is nobody's. */
  authenticate(token: string): Promise<ApiTokenIdentity | undefined>;
  /** Deletes some tokens that expired a month ago. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly developers: Pick<Developers, 'holdSession'>;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
}

export function createApiTokens(deps: Dependencies): ApiTokens {
  const { knex, developers, audit, clock, random, newId } = deps;

  async function hold(trx: Knex.Transaction, actor: Actor): Promise<store.ApiTokenRow | undefined> {
    await developers.holdSession(trx, actor);
    if (actor.kind !== 'api_token') return undefined;
    const maker = await store.holdApiToken(trx, actor.id);
    // It may have been revoked since it was let in: then it leaves nothing behind that goes on.
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
      throw invalidMember('/expires_at', 'must be a moment to come, until year 9999');
    }
    const maker = await hold(trx, actor);
    if (maker?.expires_at && (!expiresAt || expiresAt > maker.expires_at)) {
      throw invalidMember('/expires_at', 'must not be after the end of the token that makes this one');
    }
  }

  return {
    async create(actor, held, { name, scopes, expiresAt }, resellerId = null) {
      const missing = scopes.filter((scope) => !held.includes(scope));
      if (missing.length > 0) {
        throw new ApiError('INSUFFICIENT_SCOPE', {
          detail: `A token cannot give ${missing.join(' ')}, which it has not itself.`,
          members: { scope: missing.join(' ') },
        });
      }
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

    async revokeOwn(actor) {
      await knex.transaction(async (trx) => {
        const owner = { developerId: actor.developerId, resellerId: null };
        if (!(await store.deleteApiToken(trx, owner, actor.id))) throw new ApiError('UNAUTHORIZED');
        await audit.record(trx, actor, { action: 'api_token.revoked', target: actor.id });
      });
    },

    holdMaker: async (trx, actor) => void (await hold(trx, actor)),

    async authenticate(token) {
      const row = await store.findApiToken(knex, tokenDigest(token));
      if (!row || (row.expires_at && row.expires_at <= clock.now())) return undefined;
      const { token_id: tokenId, developer_id: developerId, reseller_id: resellerId } = row;
      return {
        tokenId,
        developerId,
        resellerId,
        scopes: row.scopes as Scope[],
        issuedAt: row.created_at,
        expiresAt: row.expires_at,
      };
    },

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
  };
}
