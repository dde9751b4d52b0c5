import type { Knex } from 'knex';
import type { Administrators } from '../../accounts/administrators/administrators.ts';
import type { ApiTokens } from '../../accounts/api-tokens/api-tokens.ts';
import type { Scope } from '../../accounts/developers/developers.ts';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { newCookie, tokenDigest } from '../../foundation/tokens/tokens.ts';
import type { Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import * as store from './browser-session-store.ts';

/** A credential that can do much: a browser should not keep it for long. */
const SESSION_MS = 8 * 60 * 60 * 1000;
const CLEARED_AT_ONCE = 1000;

/** The identity behind a valid cookie. */
export interface BrowserSession {
  readonly kind: 'developer' | 'reseller' | 'administrator';
  /** The actor of its requests. */
  readonly actor: Actor;
  readonly scopes: readonly Scope[];
  readonly resellerId: string | null;
  readonly expiresAt: Date;
  /** Whether the administrator has suspended the developer: the caller refuses the request. */
  readonly suspended: boolean;
}

/** Sessions of browsers that signed in with a token. Each ends with its token. */
export interface TokenSessions {
  /**
   * Signs in a reseller or the administrator.
   * @returns the value of the cookie
   * @throws ApiError INVALID_CREDENTIALS, ACCOUNT_SUSPENDED
   */
  open(token: string, client: Client): Promise<string>;
  /** @returns the session of a cookie; undefined when it is not valid */
  find(value: string, client: Client): Promise<BrowserSession | undefined>;
  /** Ends a session, unless it has already ended. */
  end(session: BrowserSession, value: string): Promise<void>;
  /** Deletes some expired sessions. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly administrators: Administrators;
  readonly apiTokens: Pick<ApiTokens, 'authenticate' | 'identityOf' | 'lockForShare'>;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly random: Random;
}

export function createTokenSessions(deps: Dependencies): TokenSessions {
  const { knex, administrators, apiTokens, audit, clock, random } = deps;

  async function insert(actor: Actor, row: store.BrowserSessionRow): Promise<void> {
    await knex.transaction(async (trx) => {
      // A token that is being revoked opens no session.
      if (row.api_token_id !== null && !(await apiTokens.lockForShare(trx, row.api_token_id)))
        throw new ApiError('INVALID_CREDENTIALS');
      await store.insertBrowserSession(trx, row);
      await audit.record(trx, actor, { action: `${actor.kind}.signed_in`, target: actor.id });
    });
  }

  return {
    async open(token, { address }) {
      const value = newCookie(random);
      const now = clock.now();
      const latest = now.getTime() + SESSION_MS;
      const row = { cookie_digest: tokenDigest(value), address, created_at: now };
      const administrator = administrators.authenticate(token, address);
      if (administrator) {
        await insert(administrator, {
          ...row,
          api_token_id: null,
          administrator_mac: administrators.macOf(token, value)!,
          expires_at: new Date(latest),
        });
        return value;
      }
      const identity = await apiTokens.authenticate(token);
      if (!identity || identity.resellerId === null) throw new ApiError('INVALID_CREDENTIALS');
      if (identity.suspended) throw new ApiError('ACCOUNT_SUSPENDED');
      const { resellerId, developerId, tokenId, expiresAt } = identity;
      await insert(
        { kind: 'reseller', id: resellerId, developerId, address },
        {
          ...row,
          api_token_id: tokenId,
          administrator_mac: null,
          expires_at: new Date(Math.min(latest, expiresAt?.getTime() ?? latest)),
        },
      );
      return value;
    },

    async find(value, { address }) {
      const row = await store.findBrowserSession(knex, tokenDigest(value));
      if (!row || row.expires_at <= clock.now()) return undefined;
      const { expires_at: expiresAt } = row;
      if (row.administrator_mac !== null) {
        const actor = administrators.ofMac(row.administrator_mac, value, address);
        return (
          actor && { kind: 'administrator', actor, scopes: [], resellerId: null, expiresAt, suspended: false }
        );
      }
      const identity = await apiTokens.identityOf(row.api_token_id!);
      if (!identity || identity.resellerId === null) return undefined;
      const { resellerId, developerId, scopes, suspended } = identity;
      const actor = { kind: 'reseller', id: resellerId, developerId, address } as const;
      return { kind: 'reseller', actor, scopes, resellerId, expiresAt, suspended };
    },

    async end({ kind, actor }, value) {
      await knex.transaction(async (trx) => {
        if (!(await store.deleteBrowserSession(trx, tokenDigest(value)))) return;
        await audit.record(trx, actor, { action: `${kind}.signed_out`, target: actor.id });
      });
    },

    clearExpired: () => store.clearExpiredSessions(knex, clock.now(), CLEARED_AT_ONCE),
  };
}
