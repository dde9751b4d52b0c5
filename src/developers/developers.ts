import type { Knex } from 'knex';
import type { Actor, Audit } from '../audit/audit.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Limits } from '../limits/limits.ts';
import { unusableHash, type Passwords } from '../passwords/passwords.ts';
import { graceEnd } from '../plans/plan-state.ts';
import { FREE_PLAN } from '../plans/plans.ts';
import { addressBlock, type Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Random } from '../platform/random.ts';
import { tokenDigest, type Tokens } from '../tokens/tokens.ts';
import * as store from './developer-store.ts';

/** A developer's bearer token lives 24 hours. */
export const DEVELOPER_SESSION_MS = 24 * 60 * 60 * 1000;

const CLEARED_AT_ONCE = 1000;

/**
 * What a token may do: look, change, manage the developer's account, tokens and resellers, authenticate users, register
 * agents, and act as one.
 */
export const SCOPES = [
  'read',
  'write',
  'auth:dev',
  'auth:client',
  'agent:register',
  'agent:execute',
] as const;
export type Scope = (typeof SCOPES)[number];

/** All but that of end users. */
const OWN_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== 'auth:client');

/** What access tokens of developers who have signed in by themselves name as their client. */
export const OWN_CLIENT = 'latchkey';

export interface DeveloperSession {
  readonly developerId: string;
  readonly token: string;
  readonly expiresAt: Date;
}

/** What a plan has room for, and what of it is used. */
export interface Quota {
  readonly limit: number;
  readonly used: number;
}

export interface Account {
  readonly developerId: string;
  readonly email: string;
  readonly name: string | null;
  readonly createdAt: Date;
  readonly plan: { readonly id: string; readonly name: string };
  readonly apps: Quota;
  /** Of the application that has the most. */
  readonly usersPerApp: Quota;
  /** Keys that were generated since the plan limits them, and how many the plan and packs allow; null where it does not. */
  readonly licenses: Quota | null;
  /** Until when logins of applications above the quota go on, after a paid plan has ended; null while there is no end. */
  readonly graceEndsAt: Date | null;
  /** The payment processor's name of him, once he has paid. */
  readonly customerRef: string | null;
}

/** What others may be told of a developer who lets them. */
export interface Profile {
  readonly developerId: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string | null;
}

export interface Developers {
  /** Those of the token of a developer's own session. */
  readonly scopes: readonly Scope[];
  /**
   * Creates an account on the free plan and signs it in.
   * @throws ApiError EMAIL_TAKEN, TOO_MANY_REQUESTS
   */
  register(
    account: { readonly email: string; readonly password: string; readonly name?: string | undefined },
    client: Client,
  ): Promise<DeveloperSession>;
  /** @throws ApiError INVALID_CREDENTIALS, TOO_MANY_REQUESTS */
  login(email: string, password: string, client: Client): Promise<DeveloperSession>;
  /**
   * Whose password it is, for a page that people sign in at: in the audit log like a login, but without a token.
   * @throws ApiError INVALID_CREDENTIALS, TOO_MANY_REQUESTS
   */
  verifyPassword(email: string, password: string, client: Client): Promise<string>;
  /** Undefined when there is no such account. */
  profile(developerId: string): Promise<Profile | undefined>;
  /**
   * Ends a session: no request that begins after this returns is let in with it.
   * @param sessionDigest SHA-256 of its token
   * @throws ApiError UNAUTHORIZED when it has ended already
   */
  logout(actor: Actor, sessionDigest: Buffer): Promise<void>;
  /** @throws ApiError UNAUTHORIZED when there is no such account any more */
  account(developerId: string): Promise<Account>;
  /** The account of an address; undefined when there is none. */
  idOf(email: string): Promise<string | undefined>;
  /** The account of an address, and whether there is a password to it; undefined when there is none. */
  find(
    db: Knex,
    email: string,
  ): Promise<{ readonly developerId: string; readonly hasPassword: boolean } | undefined>;
  /**
   * Whether a password is that of the account of an address: asked and counted as a login is.
   * @throws ApiError TOO_MANY_REQUESTS
   */
  isPasswordOf(email: string, password: string, client: Client): Promise<boolean>;
  /**
   * Opens an account without a password on the free plan, inside the caller's transaction.
   * @param verified whether somebody has just proved to read mail of this address
   * @returns its id; undefined when there is an account of this address
   */
  openAccount(
    trx: Knex.Transaction,
    account: { readonly email: string; readonly verified: boolean },
    client: Client,
  ): Promise<string | undefined>;
  /**
   * Gives an account that has none a password, inside the caller's transaction, for whoever has just proved to read mail of
   * its address.
   * @param passwordHash of `hashPassword`
   * @returns whether it had none
   */
  givePassword(
    trx: Knex.Transaction,
    developerId: string,
    passwordHash: string,
    client: Client,
  ): Promise<boolean>;
  /** @throws ApiError TOO_MANY_REQUESTS when too many are waiting */
  hashPassword(password: string): Promise<string>;
  /** Notes that somebody has just proved to read mail of an account's address. */
  noteVerified(trx: Knex.Transaction, developerId: string): Promise<void>;
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
  /** Counts one more application, inside the caller's transaction. @throws ApiError QUOTA_EXCEEDED */
  takeApplicationSeat(trx: Knex.Transaction, developerId: string): Promise<void>;
  returnApplicationSeat(trx: Knex.Transaction, developerId: string): Promise<void>;
  /**
   * Counts licence keys that are made, inside the caller's transaction, whose last deed it should be: whoever makes keys for the
   * same developer waits for it.
   * @throws ApiError QUOTA_EXCEEDED when the plan and packs have no room for all of them
   */
  takeLicenses(trx: Knex.Transaction, developerId: string, amount: number): Promise<void>;
  /**
   * Puts the actor's developer on another plan, inside the caller's transaction: its quotas hold at once.
   * @param lapsedAt when the plan before ended without another one that was paid
   */
  changePlan(trx: Knex.Transaction, actor: Actor, planId: string, lapsedAt: Date | null): Promise<void>;
  /** The plan that he is on. */
  planOf(db: Knex, developerId: string): Promise<string>;
  /** Adds licences to his packs, or takes some away, inside the caller's transaction. */
  movePacks(trx: Knex.Transaction, developerId: string, amount: number): Promise<void>;
  /** Notes the payment processor's name of him. */
  noteCustomer(trx: Knex.Transaction, developerId: string, customerRef: string): Promise<void>;
  /** Deletes some expired sessions. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly passwords: Passwords;
  readonly limits: Limits;
  readonly tokens: Tokens;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly random: Random;
}

export function createDevelopers(deps: Dependencies): Developers {
  const { knex, passwords, limits, tokens, audit, clock, newId, random } = deps;

  async function signIn(
    trx: Knex.Transaction,
    developerId: string,
    { address }: Client,
    action: 'developer.registered' | 'developer.logged_in',
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
      created_at: now,
      expires_at: expiresAt,
    });
    await note(trx, developerId, address, action);
    return { developerId, token, expiresAt };
  }

  async function note(
    trx: Knex.Transaction,
    developerId: string,
    address: string,
    action: 'developer.registered' | 'developer.logged_in',
  ): Promise<void> {
    const actor = { kind: 'developer', id: developerId, developerId, address } as const;
    await audit.record(trx, actor, { action, target: developerId });
  }

  /** @returns the account of an address if the password is that of it */
  async function withPassword(
    email: string,
    password: string,
    client: Client,
  ): Promise<store.DeveloperRow | undefined> {
    const emailKey = email.toLowerCase();
    passwords.assertRoom();
    const account = ['developer', emailKey, addressBlock(client.address)];
    const developer = await store.findDeveloper(knex, emailKey);
    const { valid, rehashed } = await passwords.verify(developer?.password_hash, password);
    if (!developer || !valid) {
      await limits.countFailure([account]);
      return undefined;
    }
    await limits.assertMayTry([account]);
    if (rehashed) await store.replacePasswordHash(knex, developer, rehashed);
    return developer;
  }

  /** @throws ApiError INVALID_CREDENTIALS, TOO_MANY_REQUESTS */
  async function ownerOfPassword(email: string, password: string, client: Client): Promise<string> {
    const developer = await withPassword(email, password, client);
    if (!developer) throw new ApiError('INVALID_CREDENTIALS');
    return developer.developer_id;
  }

  return {
    scopes: OWN_SCOPES,

    async register({ email, password, name }, client) {
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
          email_verified_at: null,
          has_password: true,
        });
        if (!inserted) throw new ApiError('EMAIL_TAKEN');
        return signIn(trx, developerId, client, 'developer.registered');
      });
    },

    async login(email, password, client) {
      const developerId = await ownerOfPassword(email, password, client);
      return knex.transaction((trx) => signIn(trx, developerId, client, 'developer.logged_in'));
    },

    async verifyPassword(email, password, client) {
      const developerId = await ownerOfPassword(email, password, client);
      await knex.transaction((trx) => note(trx, developerId, client.address, 'developer.logged_in'));
      return developerId;
    },

    async profile(developerId) {
      const row = await store.findProfile(knex, developerId);
      return (
        row && {
          developerId,
          email: row.email,
          emailVerified: row.email_verified_at !== null,
          name: row.name,
        }
      );
    },

    isPasswordOf: async (email, password, client) =>
      (await withPassword(email, password, client)) !== undefined,

    async openAccount(trx, { email, verified }, { address }) {
      const developerId = newId('dev');
      const now = clock.now();
      const opened = await store.insertDeveloperOnce(trx, {
        developer_id: developerId,
        email,
        email_key: email.toLowerCase(),
        name: null,
        password_hash: unusableHash(random.bytes(48)),
        plan_id: FREE_PLAN,
        created_at: now,
        email_verified_at: verified ? now : null,
        has_password: false,
      });
      if (!opened) return undefined;
      const actor = { kind: 'developer', id: developerId, developerId, address } as const;
      await audit.record(trx, actor, { action: 'developer.opened_by_agent', target: developerId });
      return developerId;
    },

    async givePassword(trx, developerId, passwordHash, { address }) {
      if (!(await store.insertPassword(trx, developerId, passwordHash, clock.now()))) return false;
      const actor = { kind: 'developer', id: developerId, developerId, address } as const;
      await audit.record(trx, actor, { action: 'developer.password_chosen', target: developerId });
      return true;
    },

    hashPassword: (password) => passwords.hash(password),

    noteVerified: (trx, developerId) =>
      store.updateDeveloper(trx, developerId, { email_verified_at: clock.now() }),

    async logout(actor, sessionDigest) {
      await knex.transaction(async (trx) => {
        if (!(await store.deleteDeveloperSession(trx, sessionDigest))) throw new ApiError('UNAUTHORIZED');
        await audit.record(trx, actor, { action: 'developer.logged_out', target: actor.developerId });
      });
    },

    async account(developerId) {
      const row = await store.findAccount(knex, developerId);
      if (!row) throw new ApiError('UNAUTHORIZED');
      return {
        developerId: row.developer_id,
        email: row.email,
        name: row.name,
        createdAt: row.created_at,
        plan: { id: row.plan_id, name: row.plan_name },
        apps: { limit: row.max_apps, used: row.apps },
        usersPerApp: { limit: row.max_users_per_app, used: row.users },
        licenses:
          row.max_licenses === null
            ? null
            : { limit: row.max_licenses + row.license_packs, used: row.licenses_generated },
        graceEndsAt: row.plan_lapsed_at && graceEnd(row.plan_lapsed_at),
        customerRef: row.customer_ref,
      };
    },

    async idOf(email) {
      return (await store.findDeveloper(knex, email.toLowerCase()))?.developer_id;
    },

    async find(db, email) {
      const row = await store.findDeveloper(db, email.toLowerCase());
      return row && { developerId: row.developer_id, hasPassword: row.has_password };
    },

    async authenticate(token) {
      const session = await store.findDeveloperSession(knex, tokenDigest(token));
      if (!session || session.expires_at <= clock.now()) return undefined;
      const { developer_id: developerId, token_digest: sessionDigest } = session;
      return { developerId, sessionDigest, issuedAt: session.created_at, expiresAt: session.expires_at };
    },

    async takeApplicationSeat(trx, developerId) {
      if (await store.takeApplicationSeat(trx, developerId)) return;
      throw new ApiError('QUOTA_EXCEEDED', { detail: 'Your plan has no room for another application.' });
    },

    returnApplicationSeat: (trx, developerId) => store.returnApplicationSeat(trx, developerId),

    async takeLicenses(trx, developerId, amount) {
      if ((await store.findLicenseLimit(trx, developerId)) === null) return;
      if (await store.takeLicenses(trx, developerId, amount)) return;
      throw new ApiError('QUOTA_EXCEEDED', {
        detail: `The developer's plan has no room for ${amount} more licence keys.`,
      });
    },

    async changePlan(trx, actor, planId, lapsedAt) {
      const { developerId } = actor;
      const from = await store.findPlanId(trx, developerId);
      await store.updateDeveloper(trx, developerId, { plan_id: planId, plan_lapsed_at: lapsedAt });
      const data = { from, to: planId };
      await audit.record(trx, actor, { action: 'developer.plan_changed', target: developerId, data });
    },

    planOf: store.findPlanId,

    movePacks: store.movePacks,

    noteCustomer: (trx, developerId, customerRef) =>
      store.updateDeveloper(trx, developerId, { customer_ref: customerRef }),

    clearExpired: () => store.clearExpiredSessions(knex, clock.now(), CLEARED_AT_ONCE),
  };
}
