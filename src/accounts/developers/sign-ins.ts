import type { Knex } from 'knex';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Account, Limits } from '../../foundation/limits/limits.ts';
import type { Passwords } from '../../foundation/passwords/passwords.ts';
import { addressBlock, type Client } from '../../platform/address.ts';
import { noteAccount } from '../../platform/request-scope.ts';
import type { Clock } from '../../platform/clock.ts';
import { tokenDigest } from '../../foundation/tokens/tokens.ts';
import type { LastUses } from '../../foundation/last-uses/last-uses.ts';
import { updateLastUses } from './developer-session-store.ts';
import * as store from './developer-store.ts';
import type { DeveloperSession, SessionKind, SessionOpening, SignedIn } from './session-opening.ts';

const CLEARED_AT_ONCE = 1000;

/** How developers prove who they are, and the sessions that follow. */
export interface SignIns {
  /** @throws ApiError INVALID_CREDENTIALS, ACCOUNT_SUSPENDED, TOO_MANY_REQUESTS */
  login(email: string, password: string, client: Client, kind?: SessionKind): Promise<DeveloperSession>;
  /**
   * Verifies a password on a sign-in page. It is recorded in the audit log like a login, but issues no token.
   * @throws ApiError INVALID_CREDENTIALS, ACCOUNT_SUSPENDED, TOO_MANY_REQUESTS
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
   * @throws ApiError TOO_MANY_REQUESTS; ACCOUNT_SUSPENDED when email and password match
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
  /** @returns the developer of a bearer token or of a browser's cookie; undefined when it is not valid */
  authenticate(token: string): Promise<
    | {
        readonly developerId: string;
        readonly sessionDigest: Buffer;
        readonly issuedAt: Date;
        readonly expiresAt: Date;
        /** Whether the administrator has suspended the developer: the caller refuses the request. */
        readonly suspended: boolean;
      }
    | undefined
  >;
  /** Deletes some expired sessions. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly passwords: Passwords;
  readonly limits: Limits;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly lastUses: Pick<LastUses, 'of'>;
  readonly opening: SessionOpening;
}

export function createSignIns(deps: Dependencies): SignIns {
  const { knex, passwords, limits, audit, clock, lastUses, opening } = deps;
  const lastUse = lastUses.of('sessions of developers', { write: (uses) => updateLastUses(knex, uses) });

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
    if (developer.suspended_at !== null) throw new ApiError('ACCOUNT_SUSPENDED');
    return { developerId: developer.developer_id, generation: developer.sign_in_generation };
  }

  /** @throws ApiError INVALID_CREDENTIALS, ACCOUNT_SUSPENDED, TOO_MANY_REQUESTS */
  async function ownerOfPassword(email: string, password: string, client: Client): Promise<SignedIn> {
    const signedIn = await ownerOf(email, password, client);
    if (!signedIn) throw new ApiError('INVALID_CREDENTIALS');
    return signedIn;
  }

  return {
    ownerOf,

    async login(email, password, client, kind = 'api') {
      const signedIn = await ownerOfPassword(email, password, client);
      return knex.transaction((trx) =>
        opening.open(trx, signedIn, client, { action: 'developer.logged_in', kind }),
      );
    },

    async verifyPassword(email, password, client) {
      const signedIn = await ownerOfPassword(email, password, client);
      await knex.transaction((trx) =>
        opening.record(trx, signedIn.developerId, client, 'developer.logged_in'),
      );
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
      lastUse.note(sessionDigest.toString('hex'));
      return {
        developerId,
        sessionDigest,
        issuedAt: session.created_at,
        expiresAt: session.expires_at,
        suspended: session.suspended_at !== null,
      };
    },

    clearExpired: () => store.clearExpiredSessions(knex, clock.now(), CLEARED_AT_ONCE),
  };
}
