import type { Knex } from 'knex';
import { ApiError } from '../errors/api-error.ts';
import type { Limits } from '../limits/limits.ts';
import type { Passwords } from '../passwords/passwords.ts';
import { addressBlock, type Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import { tokenDigest, type Tokens } from '../tokens/tokens.ts';
import * as store from './developer-store.ts';

/** A developer's bearer token lives 24 hours. */
export const DEVELOPER_SESSION_MS = 24 * 60 * 60 * 1000;

const FREE_PLAN = 'free';
const CLEARED_AT_ONCE = 1000;

/** What a token may do: look, change, and manage the developer's account, tokens and resellers. */
export type Scope = 'read' | 'write' | 'auth:dev';

export interface DeveloperSession {
  readonly developerId: string;
  readonly token: string;
  readonly expiresAt: Date;
}

export interface Developers {
  /** Those of the token of a developer's own session. */
  readonly scopes: readonly Scope[];
  /**
   * Creates an account on the free plan and signs it in.
   * @throws ApiError EMAIL_TAKEN, TOO_MANY_REQUESTS
   */
  register(account: {
    readonly email: string;
    readonly password: string;
    readonly name?: string | undefined;
  }): Promise<DeveloperSession>;
  /** @throws ApiError INVALID_CREDENTIALS, TOO_MANY_REQUESTS */
  login(email: string, password: string, client: Client): Promise<DeveloperSession>;
  /** The account of an address; undefined when there is none. */
  idOf(email: string): Promise<string | undefined>;
  /** The developer whose live bearer token this is; undefined when it is nobody's. */
  authenticate(token: string): Promise<{ readonly developerId: string } | undefined>;
  /** Counts one more application, inside the caller's transaction. @throws ApiError QUOTA_EXCEEDED */
  takeApplicationSeat(trx: Knex.Transaction, developerId: string): Promise<void>;
  returnApplicationSeat(trx: Knex.Transaction, developerId: string): Promise<void>;
  /** Deletes some expired sessions. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly passwords: Passwords;
  readonly limits: Limits;
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createDevelopers(deps: Dependencies): Developers {
  const { knex, passwords, limits, tokens, clock, newId } = deps;

  async function signIn(db: Knex, developerId: string): Promise<DeveloperSession> {
    const now = clock.now();
    const expiresAt = new Date(now.getTime() + DEVELOPER_SESSION_MS);
    const token = await tokens.signDeveloperToken({ developerId, issuedAt: now, expiresAt });
    await store.insertDeveloperSession(db, {
      token_digest: tokenDigest(token),
      developer_id: developerId,
      created_at: now,
      expires_at: expiresAt,
    });
    return { developerId, token, expiresAt };
  }

  return {
    scopes: ['read', 'write', 'auth:dev'],

    async register({ email, password, name }) {
      const emailKey = email.toLowerCase();
      if (await store.findDeveloper(knex, emailKey)) throw new ApiError('EMAIL_TAKEN');
      const passwordHash = await passwords.hash(password);
      const developerId = newId('dev');
      return knex.transaction(async (trx) => {
        const inserted = await store.insertDeveloper(trx, {
          developer_id: developerId,
          email,
          email_key: emailKey,
          name: name ?? null,
          password_hash: passwordHash,
          plan_id: FREE_PLAN,
          created_at: clock.now(),
        });
        if (!inserted) throw new ApiError('EMAIL_TAKEN');
        return signIn(trx, developerId);
      });
    },

    async login(email, password, client) {
      const emailKey = email.toLowerCase();
      passwords.assertRoom();
      const account = ['developer', emailKey, addressBlock(client.address)];
      const developer = await store.findDeveloper(knex, emailKey);
      const { valid, rehashed } = await passwords.verify(developer?.password_hash, password);
      if (!developer || !valid) {
        await limits.countFailure([account]);
        throw new ApiError('INVALID_CREDENTIALS');
      }
      await limits.assertMayTry([account]);
      if (rehashed) await store.replacePasswordHash(knex, developer, rehashed);
      return signIn(knex, developer.developer_id);
    },

    async idOf(email) {
      return (await store.findDeveloper(knex, email.toLowerCase()))?.developer_id;
    },

    async authenticate(token) {
      const session = await store.findDeveloperSession(knex, tokenDigest(token));
      if (!session || session.expires_at <= clock.now()) return undefined;
      return { developerId: session.developer_id };
    },

    async takeApplicationSeat(trx, developerId) {
      if (await store.takeApplicationSeat(trx, developerId)) return;
      throw new ApiError('QUOTA_EXCEEDED', { detail: 'Your plan has no room for another application.' });
    },

    returnApplicationSeat: (trx, developerId) => store.returnApplicationSeat(trx, developerId),

    clearExpired: () => store.clearExpiredSessions(knex, clock.now(), CLEARED_AT_ONCE),
  };
}
