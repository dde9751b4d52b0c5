import type { Knex } from 'knex';
import type { Audit } from '../../foundation/audit/audit.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { LastUses } from '../../foundation/last-uses/last-uses.ts';
import type { Limits } from '../../foundation/limits/limits.ts';
import { unusableHash, type Passwords } from '../../foundation/passwords/passwords.ts';
import { graceEnd } from '../plans/plan-state.ts';
import { FREE_PLAN, type Plans } from '../plans/plans.ts';
import type { Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Random } from '../../platform/random.ts';
import type { Tokens } from '../../foundation/tokens/tokens.ts';
import * as store from './developer-store.ts';
import { lockSuspensionForShare, suspensionOf } from './suspension-store.ts';
import { OWN_SCOPES, type Scope } from './scope-state.ts';
import { createDeveloperDirectory, type DeveloperDirectory } from './developer-directory.ts';
import { createDeveloperSessions, type DeveloperSessions } from './developer-sessions.ts';
import { createQuotas, type Quotas } from './quotas.ts';
import { createSessionOpening, type DeveloperSession } from './session-opening.ts';
import { createSignIns, type SignIns } from './sign-ins.ts';

export type { DeveloperDirectory, ListedDeveloper } from './developer-directory.ts';
export { SCOPES, type Scope } from './scope-state.ts';
export { DEVELOPER_SESSION_MS, OWN_CLIENT, type DeveloperSession, type SignedIn } from './session-opening.ts';

/** How much a plan allows, and how much of it is used. */
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
  /** What the plan allows. */
  readonly maxUsersPerApp: number;
  /**
   * License keys that were generated since the plan limits them, and how many the plan and packs allow; null
   * without a limit.
   */
  readonly licenses: Quota | null;
  /** When applications above the quota stop accepting logins, after a paid plan has ended; null otherwise. */
  readonly graceEndsAt: Date | null;
  /** The payment processor's identifier of the developer, after the first payment. */
  readonly customerRef: string | null;
}

/** What a developer can share with other applications. */
export interface Profile {
  readonly developerId: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string | null;
  readonly createdAt: Date;
  /** Whether the administrator has suspended the developer. */
  readonly suspended: boolean;
}

/** The accounts of developers. */
export interface Developers extends SignIns, DeveloperSessions, Quotas {
  /** The scopes of a token from a developer's own session. */
  readonly scopes: readonly Scope[];
  /** For the administrator. */
  readonly directory: DeveloperDirectory;
  /**
   * A column `suspended_at` for a query of a credential: since when its developer is suspended. So a credential is
   * found and checked in one statement.
   * @param owner the column with the id of the developer, which may be null
   */
  suspensionOf(db: Knex, owner: string): Knex.Raw;
  /**
   * Since when a developer is suspended; null if they are not. A suspension and its end come before or after the
   * caller's transaction, never in between. Applications are locked before.
   */
  lockSuspensionForShare(trx: Knex.Transaction, developerId: string): Promise<Date | null>;
  /**
   * Creates an account on the free plan and signs it in.
   * @throws ApiError EMAIL_TAKEN, TOO_MANY_REQUESTS
   */
  register(
    account: { readonly email: string; readonly password: string; readonly name?: string | undefined },
    client: Client,
  ): Promise<DeveloperSession>;
  /** @returns undefined when there is no such account */
  profile(developerId: string): Promise<Profile | undefined>;
  /** @throws ApiError UNAUTHORIZED when the account no longer exists */
  account(developerId: string): Promise<Account>;
  /** @returns the id of the account with an email address; undefined when there is no such account */
  idOf(email: string): Promise<string | undefined>;
  /**
   * @returns the account with an email address, and whether it has a password; undefined when there is no
   *   such account
   */
  find(
    db: Knex,
    email: string,
  ): Promise<
    | {
        readonly developerId: string;
        /** As the account was opened with: mail to an address typed differently may reach another mailbox. */
        readonly email: string;
        readonly hasPassword: boolean;
      }
    | undefined
  >;
  /**
   * Opens an account without a password on the free plan, inside the caller's transaction.
   * @param verified whether the owner of this mailbox has just been verified
   * @returns its id; undefined when an account with this address already exists
   */
  openAccount(
    trx: Knex.Transaction,
    account: { readonly email: string; readonly verified: boolean },
    client: Client,
  ): Promise<string | undefined>;
  /**
   * Sets the first password of an account, inside the caller's transaction. The caller has just verified the
   * owner of its mailbox.
   * @param passwordHash from `hashPassword`
   * @returns false when the account already has a password
   */
  setFirstPassword(
    trx: Knex.Transaction,
    developerId: string,
    passwordHash: string,
    client: Client,
  ): Promise<boolean>;
  /**
   * Replaces the password of an account, or sets its first one, inside the caller's transaction. Existing
   * sign-ins continue until `endSignIns`.
   * @param passwordHash from `hashPassword`
   */
  replacePassword(trx: Knex.Transaction, developerId: string, passwordHash: string): Promise<void>;
  /** @throws ApiError TOO_MANY_REQUESTS when too many passwords are waiting to be hashed */
  hashPassword(password: string): Promise<string>;
  /** Records that the owner of the account's mailbox has just been verified. */
  noteVerified(trx: Knex.Transaction, developerId: string): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly plans: Pick<Plans, 'find'>;
  readonly passwords: Passwords;
  readonly limits: Limits;
  readonly tokens: Tokens;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly random: Random;
  readonly lastUses: Pick<LastUses, 'of'>;
}

export function createDevelopers(deps: Dependencies): Developers {
  const { knex, plans, passwords, audit, clock, newId, random } = deps;
  const opening = createSessionOpening(deps);

  return {
    ...createSignIns({ ...deps, opening }),
    ...createDeveloperSessions(deps),
    ...createQuotas(deps),
    scopes: OWN_SCOPES,
    directory: createDeveloperDirectory(deps),
    suspensionOf,
    lockSuspensionForShare,

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
        return opening.open(trx, { developerId, generation: 0 }, client, {
          action: 'developer.registered',
          kind: 'api',
        });
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
          suspended: row.suspended_at !== null,
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

    async setFirstPassword(trx, developerId, passwordHash, { address }) {
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
      const plan = row && (await plans.find(knex, row.plan_id));
      if (!plan) throw new ApiError('UNAUTHORIZED');
      return {
        developerId: row.developer_id,
        email: row.email,
        name: row.name,
        createdAt: row.created_at,
        plan: { id: plan.plan_id, name: plan.name },
        apps: { limit: plan.max_apps, used: row.apps },
        maxUsersPerApp: plan.max_users_per_app,
        licenses:
          plan.max_licenses === null
            ? null
            : { limit: plan.max_licenses + row.license_packs, used: row.licenses_generated },
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
