import type { Knex } from 'knex';
import type { Audit } from '../audit/audit.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Limits } from '../limits/limits.ts';
import { unusableHash, type Passwords } from '../passwords/passwords.ts';
import { graceEnd } from '../plans/plan-state.ts';
import { FREE_PLAN } from '../plans/plans.ts';
import type { Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Random } from '../platform/random.ts';
import type { Tokens } from '../tokens/tokens.ts';
import * as store from './developer-store.ts';
import { OWN_SCOPES, type Scope } from './scope-state.ts';
import { createQuotas, type Quotas } from './quotas.ts';
import { createSignIns, type DeveloperSession, type SignIns } from './sign-ins.ts';

export { SCOPES, type Scope } from './scope-state.ts';
export { DEVELOPER_SESSION_MS, OWN_CLIENT, type DeveloperSession, type SignedIn } from './sign-ins.ts';

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
  readonly createdAt: Date;
}

/** The accounts of developers. */
export interface Developers extends SignIns, Quotas {
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
  /** Undefined when there is no such account. */
  profile(developerId: string): Promise<Profile | undefined>;
  /** @throws ApiError UNAUTHORIZED when there is no such account any more */
  account(developerId: string): Promise<Account>;
  /** The account of an address; undefined when there is none. */
  idOf(email: string): Promise<string | undefined>;
  /** The account of an address, and whether there is a password to it; undefined when there is none. */
  find(
    db: Knex,
    email: string,
  ): Promise<
    | {
        readonly developerId: string;
        /** As it was opened with: mail to what somebody else has typed may be another mailbox's. */
        readonly email: string;
        readonly hasPassword: boolean;
      }
    | undefined
  >;
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
  /**
   * Replaces the password of an account, or gives it its first one, inside the caller's transaction. What was signed in to with
   * the one before goes on until `endSignIns`.
   * @param passwordHash of `hashPassword`
   */
  replacePassword(trx: Knex.Transaction, developerId: string, passwordHash: string): Promise<void>;
  /** @throws ApiError TOO_MANY_REQUESTS when too many are waiting */
  hashPassword(password: string): Promise<string>;
  /** Notes that somebody has just proved to read mail of an account's address. */
  noteVerified(trx: Knex.Transaction, developerId: string): Promise<void>;
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
  const { knex, passwords, audit, clock, newId, random } = deps;
  const { open, ...signIns } = createSignIns(deps);

  return {
    ...signIns,
    ...createQuotas(deps),
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
        return open(trx, { developerId, generation: 0 }, client, 'developer.registered');
      });
    },

    async profile(developerId) {
      const row = await store.findProfile(knex, developerId);
      return (
        row && {
          developerId,
          email: row.email,
          emailVerified: row.email_verified_at !== null,
          name: row.name,
          createdAt: row.created_at,
        }
      );
    },

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

    replacePassword: (trx, developerId, passwordHash) =>
      store.updateDeveloper(trx, developerId, { password_hash: passwordHash, has_password: true }),

    hashPassword: (password) => passwords.hash(password),

    noteVerified: (trx, developerId) =>
      store.updateDeveloper(trx, developerId, { email_verified_at: clock.now() }),

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
      return row && { developerId: row.developer_id, email: row.email, hasPassword: row.has_password };
    },
  };
}
