import type { Knex } from 'knex';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Account, Limits } from '../../foundation/limits/limits.ts';
import type { Passwords } from '../../foundation/passwords/passwords.ts';
import { addressBlock, type Client } from '../../platform/address.ts';
import { noteAccount } from '../../platform/request-scope.ts';
import type { Clock } from '../../platform/clock.ts';
import { tokenDigest, type Tokens } from '../../foundation/tokens/tokens.ts';
import * as store from './developer-store.ts';
import { OWN_SCOPES } from './scope-state.ts';

/** The client id in access tokens of developers who signed in directly. */
export const OWN_CLIENT = 'latchkey';

/** A developer's bearer token is valid for 24 hours. */
export const DEVELOPER_SESSION_MS = 24 * 60 * 60 * 1000;

const CLEARED_AT_ONCE = 1000;

export interface DeveloperSession {
  readonly developerId: string;
  readonly token: string;
  readonly expiresAt: Date;
}

/** How developers prove who they are, and the sessions that follow. */
export interface SignIns {
  /** @throws ApiError INVALID_CREDENTIALS, TOO_MANY_REQUESTS */
  login(email: string, password: string, client: Client): Promise<DeveloperSession>;
  /**
   * Verifies a password on a sign-in page. It is recorded in the audit log like a login, but issues no token.
   * @throws ApiError INVALID_CREDENTIALS, TOO_MANY_REQUESTS
   */
  verifyPassword(email: string, password: string, client: Client): Promise<SignedIn>;
  /** Whether a sign-in is still valid: all sign-ins of the developer may have been ended since. */
  isSignedIn(who: SignedIn): Promise<boolean>;
  /**
   * Locks a developer's sign-ins for update, so that they cannot be ended by others during the caller's
   * transaction, which may end them itself.
   * @returns the current generation; undefined when there is no such developer
   */
  lockSignInsForUpdate(trx: Knex.Transaction, developerId: string): Promise<number | undefined>;
  /**
   * Locks the actor's sign-in for share, for creating what outlives it, such as a token: ending it waits
   * until the caller's transaction ends.
   * @throws ApiError UNAUTHORIZED when it has ended since the request was authenticated
   */
  lockSessionForShare(
    trx: Knex.Transaction,
    actor: Pick<Actor, 'developerId' | 'sessionDigest'>,
  ): Promise<void>;
  /**
   * Finds the owner of a password, with the same rate limits as a login; undefined when email and password do
   * not match.
   * @param holding digest of a secret that strangers do not have, such as a session. Failures without it can
   *   block the client's address for the account; with it, the right password is still accepted.
   * @throws ApiError TOO_MANY_REQUESTS
   */
  ownerOf(email: string, password: string, client: Client, holding?: Buffer): Promise<SignedIn | undefined>;
  /**
   * Ends a session: it authenticates no request that begins after this returns.
   * @param sessionDigest SHA-256 of its token
   * @throws ApiError UNAUTHORIZED when it has already ended
   */
  logout(actor: Actor, sessionDigest: Buffer): Promise<void>;
  /**
   * Ends all sign-ins of a developer, inside the caller's transaction: API sessions, and browsers on the
   * pages of the authorization server.
   * @param except digest of the session that continues
   * @returns how many API sessions were ended
   * @throws ApiError UNAUTHORIZED when the session that should continue has already ended
   */
  endSignIns(trx: Knex.Transaction, developerId: string, except?: Buffer): Promise<number>;
  /** @returns the developer of a bearer token; undefined when the token is not valid */
  authenticate(token: string): Promise<
    | {
        readonly developerId: string;
        readonly sessionDigest: Buffer;
        readonly issuedAt: Date;
        readonly expiresAt: Date;
      }
    | undefined
  >;
  /** Deletes some expired sessions. @returns how many */
  clearExpired(): Promise<number>;
}

/** A developer whose password was verified, and the generation of their sign-ins at that time. */
export interface SignedIn {
  readonly developerId: string;
  readonly generation: number;
}

interface Dependencies {
  readonly knex: Knex;
  readonly passwords: Passwords;
  readonly limits: Limits;
  readonly tokens: Tokens;
  readonly audit: Audit;
  readonly clock: Clock;
}

type SignInAction = 'developer.registered' | 'developer.logged_in';

/** @returns also `open`, which starts a session inside the caller's transaction */
export function createSignIns(deps: Dependencies): SignIns & {
  open(trx: Knex.Transaction, who: SignedIn, client: Client, action: SignInAction): Promise<DeveloperSession>;
} {
  const { knex, passwords, limits, tokens, audit, clock } = deps;

  async function open(
    trx: Knex.Transaction,
    { developerId, generation }: SignedIn,
    client: Client,
    action: SignInAction,
  ): Promise<DeveloperSession> {
    const now = clock.now();
    const expiresAt = new Date(now.getTime() + DEVELOPER_SESSION_MS);
    const token = await tokens.signAccessToken({
      subject: developerId,
      clientId: OWN_CLIENT,
      scopes: OWN_SCOPES,
      issuedAt: now,
      expiresAt,
    });
    await store.insertDeveloperSession(trx, {
      token_digest: tokenDigest(token),
      developer_id: developerId,
      sign_in_generation: generation,
      created_at: now,
      expires_at: expiresAt,
    });
    await recordSignIn(trx, developerId, client, action);
    return { developerId, token, expiresAt };
  }

  async function recordSignIn(
    trx: Knex.Transaction,
    developerId: string,
    { address }: Client,
    action: SignInAction,
  ): Promise<void> {
    const actor = { kind: 'developer', id: developerId, developerId, address } as const;
    await audit.record(trx, actor, { action, target: developerId });
  }

  async function ownerOf(
    email: string,
    password: string,
    client: Client,
    holding?: Buffer,
  ): Promise<SignedIn | undefined> {
    const emailKey = email.toLowerCase();
    passwords.assertCapacity();
    const account = ['developer', emailKey, addressBlock(client.address)];
    const accounts: [Account, ...Account[]] = [account];
    if (holding) accounts.push([...account, holding.toString('base64')]);
    const developer = await store.findDeveloper(knex, emailKey);
    if (developer) noteAccount(developer.developer_id);
    const { valid, rehashed } = await passwords.verify(developer?.password_hash, password);
    if (!developer || !valid) {
      await limits.countFailure(accounts);
      return undefined;
    }
    await limits.assertAttemptAllowed(accounts);
    if (rehashed) await store.replacePasswordHash(knex, developer, rehashed);
    return { developerId: developer.developer_id, generation: developer.sign_in_generation };
  }

  /** @throws ApiError INVALID_CREDENTIALS, TOO_MANY_REQUESTS */
  async function ownerOfPassword(email: string, password: string, client: Client): Promise<SignedIn> {
    const signedIn = await ownerOf(email, password, client);
    if (!signedIn) throw new ApiError('INVALID_CREDENTIALS');
    return signedIn;
  }

  return {
    open,
    ownerOf,

    async login(email, password, client) {
      const signedIn = await ownerOfPassword(email, password, client);
      return knex.transaction((trx) => open(trx, signedIn, client, 'developer.logged_in'));
    },

    async verifyPassword(email, password, client) {
      const signedIn = await ownerOfPassword(email, password, client);
      await knex.transaction((trx) => recordSignIn(trx, signedIn.developerId, client, 'developer.logged_in'));
      return signedIn;
    },

    async isSignedIn({ developerId, generation }) {
      return (await store.findSignInGeneration(knex, developerId)) === generation;
    },

    async logout(actor, sessionDigest) {
      await knex.transaction(async (trx) => {
        if (!(await store.deleteDeveloperSession(trx, sessionDigest))) throw new ApiError('UNAUTHORIZED');
        await audit.record(trx, actor, { action: 'developer.logged_out', target: actor.developerId });
      });
    },

    async endSignIns(trx, developerId, except) {
      const count = await store.endSignIns(trx, developerId, except);
      if (count === undefined) throw new ApiError('UNAUTHORIZED');
      return count;
    },

    lockSignInsForUpdate: store.lockSignInsForUpdate,

    async lockSessionForShare(trx, { developerId, sessionDigest }) {
      if (!(await store.lockSessionForShare(trx, developerId, sessionDigest)))
        throw new ApiError('UNAUTHORIZED');
    },

    async authenticate(token) {
      const session = await store.findDeveloperSession(knex, tokenDigest(token));
      if (!session || session.expires_at <= clock.now()) return undefined;
      const { developer_id: developerId, token_digest: sessionDigest } = session;
      return { developerId, sessionDigest, issuedAt: session.created_at, expiresAt: session.expires_at };
    },

    clearExpired: () => store.clearExpiredSessions(knex, clock.now(), CLEARED_AT_ONCE),
  };
}
