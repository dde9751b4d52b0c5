import type { Knex } from 'knex';
import type { Actor, Audit } from '../audit/audit.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Account, Limits } from '../limits/limits.ts';
import type { Passwords } from '../passwords/passwords.ts';
import { addressBlock, type Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import { tokenDigest, type Tokens } from '../tokens/tokens.ts';
import * as store from './developer-store.ts';
import { OWN_SCOPES } from './scope-state.ts';

/** What access tokens of developers who have signed in by themselves name as their client. */
export const OWN_CLIENT = 'latchkey';

/** A developer's bearer token lives 24 hours. */
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
   * Whose password it is, for a page that people sign in at: in the audit log like a login, but without a token.
   * @throws ApiError INVALID_CREDENTIALS, TOO_MANY_REQUESTS
   */
  verifyPassword(email: string, password: string, client: Client): Promise<SignedIn>;
  /** Whether what somebody has signed in to was not ended since with everything else. */
  isSignedIn(who: SignedIn): Promise<boolean>;
  /**
   * Whoever ends what a developer has signed in to comes before or after the caller's transaction, which may do so itself.
   * @returns how often it was ended before
   */
  lockSignIns(trx: Knex.Transaction, developerId: string): Promise<number | undefined>;
  /**
   * For whoever makes what goes on without him: whoever ends all that the developer has signed in to, or the session that
   * acts, comes before or after the caller's transaction.
   * @throws ApiError UNAUTHORIZED when it has ended since it was let in
   */
  holdSession(trx: Knex.Transaction, actor: Pick<Actor, 'developerId' | 'sessionDigest'>): Promise<void>;
  /**
   * Whose password it is, asked and counted as a login is; undefined when it is not that of the address.
   * @param holding digest of something secret that strangers do not have, such as a session: while the client's address is
   *   closed to the account by failures without it, the right password is still let in with it
   * @throws ApiError TOO_MANY_REQUESTS
   */
  ownerOf(email: string, password: string, client: Client, holding?: Buffer): Promise<SignedIn | undefined>;
  /**
   * Ends a session: no request that begins after this returns is let in with it.
   * @param sessionDigest SHA-256 of its token
   * @throws ApiError UNAUTHORIZED when it has ended already
   */
  logout(actor: Actor, sessionDigest: Buffer): Promise<void>;
  /**
   * Ends everything that a developer has signed in to, inside the caller's transaction: sessions of the API, and browsers at
   * the pages of the authorization server.
   * @param except digest of the session that goes on
   * @returns how many sessions of the API there were
   * @throws ApiError UNAUTHORIZED when that one has ended already
   */
  endSignIns(trx: Knex.Transaction, developerId: string, except?: Buffer): Promise<number>;
  /** The developer whose live bearer token this is; undefined when it is nobody's. */
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

/** Who has proved it, and how often all that he had signed in to was ended before. */
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

/** @returns with `open`, which begins a session inside the caller's transaction */
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
    await note(trx, developerId, client, action);
    return { developerId, token, expiresAt };
  }

  async function note(
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
    passwords.assertRoom();
    const account = ['developer', emailKey, addressBlock(client.address)];
    const accounts: [Account, ...Account[]] = [account];
    if (holding) accounts.push([...account, holding.toString('base64')]);
    const developer = await store.findDeveloper(knex, emailKey);
    const { valid, rehashed } = await passwords.verify(developer?.password_hash, password);
    if (!developer || !valid) {
      await limits.countFailure(accounts);
      return undefined;
    }
    await limits.assertMayTry(accounts);
    if (rehashed) await store.replacePasswordHash(knex, developer, rehashed);
    return { developerId: developer.developer_id, generation: developer.sign_in_generation };
  }

  /** @throws ApiError INVALID_CREDENTIALS, TOO_MANY_REQUESTS */
  async function ownerOfPassword(email: string, password: string, client: Client): Promise<SignedIn> {
    const who = await ownerOf(email, password, client);
    if (!who) throw new ApiError('INVALID_CREDENTIALS');
    return who;
  }

  return {
    open,
    ownerOf,

    async login(email, password, client) {
      const who = await ownerOfPassword(email, password, client);
      return knex.transaction((trx) => open(trx, who, client, 'developer.logged_in'));
    },

    async verifyPassword(email, password, client) {
      const who = await ownerOfPassword(email, password, client);
      await knex.transaction((trx) => note(trx, who.developerId, client, 'developer.logged_in'));
      return who;
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

    lockSignIns: store.lockSignIns,

    async holdSession(trx, { developerId, sessionDigest }) {
      if (!(await store.holdSession(trx, developerId, sessionDigest))) throw new ApiError('UNAUTHORIZED');
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
