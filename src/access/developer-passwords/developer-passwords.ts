import type { Knex } from 'knex';
import type { Addresses } from '../../foundation/addresses/addresses.ts';
import type { Agents } from '../agents/agents.ts';
import type { ApiTokens } from '../../accounts/api-tokens/api-tokens.ts';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import type { Developers } from '../../accounts/developers/developers.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import type { Mails } from '../../messaging/mails/mails.ts';
import { canBeChosen } from '../../foundation/passwords/password-state.ts';
import type { Authorizations, OAuthClients } from '../oauth/oauth.ts';
import type { Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/index.ts';
import { isMailAddress } from '../../platform/mail/mailbox.ts';
import type { Random } from '../../platform/random.ts';
import { tokenDigest } from '../../foundation/tokens/tokens.ts';
import { changedMail, noAccountMail, resetMail } from './mails.ts';
import * as store from './password-reset-store.ts';

/** How long a mailed link works. */
const RESET_MS = 60 * 60 * 1000;

const CLEARED_AT_ONCE = 1000;

/** Changes and resets of developers' passwords, and the end of their sign-ins. */
export interface DeveloperPasswords {
  /**
   * Mails a link to an address; if no account has the address, the mail says so.
   * @throws ApiError TOO_MANY_REQUESTS; VALIDATION_FAILED for an address that cannot receive mail
   */
  requestReset(email: string, client: Client): Promise<void>;
  /** Whether an account may have this password. */
  canBeChosen(password: string): boolean;
  /** The reset that a link allows; undefined when it was used, has expired or was never sent. */
  resetOf(token: string): Promise<PasswordReset | undefined>;
  /**
   * Replaces the password with the token of a mailed link, and ends all sign-ins.
   * @param endAccess whether to also revoke what acts for the account; by default, only if the address was not verified
   *   before
   * @throws ApiError INVALID_RESET_TOKEN, TOO_MANY_REQUESTS
   */
  reset(token: string, password: string, endAccess: boolean | undefined, client: Client): Promise<void>;
  /**
   * Replaces the password after checking the current one, and ends all sign-ins except the session of the request.
   * @throws ApiError INVALID_CREDENTIALS, TOO_MANY_REQUESTS
   */
  change(actor: Actor, passwords: { readonly current: string; readonly next: string }): Promise<void>;
  /**
   * Ends all sign-ins of the developer except the session of the request.
   * @returns how many sessions of the API it ended
   */
  endOtherSessions(actor: Actor): Promise<number>;
  /** Deletes one batch of expired links. @returns how many */
  clearExpired(): Promise<number>;
}

export interface PasswordReset {
  readonly email: string;
  /** Whether the address was verified before: if not, anyone may have created the account. */
  readonly emailVerified: boolean;
  readonly accountCreatedAt: Date;
}

interface Dependencies {
  readonly knex: Knex;
  readonly inOneTransaction: Database['inOneTransaction'];
  readonly developers: Developers;
  readonly apiTokens: Pick<ApiTokens, 'revokeAll'>;
  readonly oauthClients: Pick<OAuthClients, 'deleteAll'>;
  readonly authorizations: Pick<Authorizations, 'revokeAll'>;
  readonly agents: Pick<Agents, 'withdrawConfirmations' | 'revokeAll'>;
  readonly mails: Mails;
  readonly addresses: Pick<Addresses, 'web'>;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly random: Random;
}

export function createDeveloperPasswords(deps: Dependencies): DeveloperPasswords {
  const { knex, inOneTransaction, developers, mails, addresses, audit, clock, random } = deps;

  async function profileOf(token: string) {
    const row = await store.findPasswordReset(knex, tokenDigest(token), clock.now());
    return row?.developer_id ? developers.profile(row.developer_id) : undefined;
  }

  async function endAccessOf(actor: Actor): Promise<void> {
    await deps.apiTokens.revokeAll(actor);
    await deps.oauthClients.deleteAll(actor);
    await deps.authorizations.revokeAll(actor);
    await deps.agents.revokeAll(actor);
  }

  async function notifyOwner(trx: Knex.Transaction, email: string): Promise<void> {
    // Accounts may be older than this rule.
    if (!isMailAddress(email)) return;
    const about = { kind: 'password-changed', linkEndsAt: null } as const;
    await mails.enqueue(trx, { to: email, ...changedMail(addresses.web()), ...about });
  }

  return {
    canBeChosen,

    async requestReset(email, client) {
      if (!isMailAddress(email)) throw invalidMember('/email', 'must be an address that mail can be sent to');
      await mails.assertMaySend('password-reset', email, client);
      const token = random.bytes(32).toString('base64url');
      const now = clock.now();
      const linkEndsAt = new Date(now.getTime() + RESET_MS);
      await knex.transaction(async (trx) => {
        // The same work with and without an account, so that its time reveals nothing.
        const found = await developers.find(trx, email);
        // Accounts may be older than this rule.
        const account = found && isMailAddress(found.email) ? found : undefined;
        await store.insertPasswordReset(trx, {
          token_digest: tokenDigest(token),
          developer_id: account?.developerId ?? null,
          created_at: now,
          expires_at: linkEndsAt,
        });
        const web = addresses.web();
        // The account's own address: one that is only equal in lower case (U+212A becomes k) may be another mailbox.
        const to = account?.email ?? email;
        const text = account ? resetMail(web, token) : noAccountMail(web);
        await mails.enqueue(trx, { to, ...text, kind: 'password-reset', linkEndsAt });
      });
    },

    async resetOf(token) {
      const profile = await profileOf(token);
      if (!profile) return undefined;
      const { email, emailVerified, createdAt } = profile;
      return { email, emailVerified, accountCreatedAt: createdAt };
    },

    async reset(token, password, endAccess, { address }) {
      const profile = await profileOf(token);
      if (!profile) throw new ApiError('INVALID_RESET_TOKEN');
      const passwordHash = await developers.hashPassword(password);
      const { developerId } = profile;
      const endsAccess = endAccess ?? !profile.emailVerified;
      await inOneTransaction(async (trx) => {
        if (endsAccess) await deps.agents.withdrawConfirmations(trx, developerId);
        // Before its links: other requests with other links lock in the same order.
        await developers.lockSignInsForUpdate(trx, developerId);
        if (!(await store.takePasswordReset(trx, tokenDigest(token))))
          throw new ApiError('INVALID_RESET_TOKEN');
        await store.deletePasswordResetsOf(trx, developerId);
        await developers.replacePassword(trx, developerId, passwordHash);
        await developers.noteVerified(trx, developerId);
        await developers.endSignIns(trx, developerId);
        const actor = { kind: 'developer', id: developerId, developerId, address } as const;
        if (endsAccess) await endAccessOf(actor);
        await audit.record(trx, actor, {
          action: 'developer.password_reset',
          target: developerId,
          data: { end_access: endsAccess },
        });
        await notifyOwner(trx, profile.email);
      });
    },

    async change(actor, { current, next }) {
      const { developerId, address, sessionDigest } = actor;
      const profile = await developers.profile(developerId);
      if (!profile) throw new ApiError('UNAUTHORIZED');
      const invalid = () => new ApiError('INVALID_CREDENTIALS', { status: 403 });
      const owner = await developers.ownerOf(profile.email, current, { address }, sessionDigest);
      if (!owner) throw invalid();
      const passwordHash = await developers.hashPassword(next);
      await knex.transaction(async (trx) => {
        // A concurrent request may have replaced the password since it was checked.
        if ((await developers.lockSignInsForUpdate(trx, developerId)) !== owner.generation) throw invalid();
        await store.deletePasswordResetsOf(trx, developerId);
        await developers.replacePassword(trx, developerId, passwordHash);
        await developers.endSignIns(trx, developerId, sessionDigest);
        await audit.record(trx, actor, { action: 'developer.password_changed', target: developerId });
        await notifyOwner(trx, profile.email);
      });
    },

    async endOtherSessions(actor) {
      const { developerId, sessionDigest } = actor;
      return knex.transaction(async (trx) => {
        const count = await developers.endSignIns(trx, developerId, sessionDigest);
        const data = { count };
        await audit.record(trx, actor, { action: 'developer.sessions_ended', target: developerId, data });
        return count;
      });
    },

    clearExpired: () => store.clearExpiredPasswordResets(knex, clock.now(), CLEARED_AT_ONCE),
  };
}
