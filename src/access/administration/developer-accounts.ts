import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Account, Developers, ListedDeveloper } from '../../accounts/developers/developers.ts';
import type { PlanSubscription, PlanSubscriptions } from '../../commerce/billing/billing.ts';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Webhooks } from '../../messaging/webhooks/webhooks.ts';

/** What the audit log calls the ways to sign in. */
const SIGN_INS = ['developer.registered', 'developer.logged_in'];

/** All that the administrator sees of a developer. */
export interface DeveloperDetails extends ListedDeveloper {
  readonly account: Account;
  /** The number of users of the application that has the most. */
  readonly usersOfLargest: number;
  /** How many applications are disabled because of the suspension. */
  readonly applicationsDisabled: number;
  /** Null on the free plan. */
  readonly subscription: PlanSubscription | null;
  readonly lastSignInAt: Date | null;
}

/** The accounts of developers, as the administrator manages them. */
export interface DeveloperAccounts {
  /** @throws ApiError DEVELOPER_NOT_FOUND */
  get(developerId: string): Promise<DeveloperDetails>;
  /**
   * Refuses all credentials of a developer, and sends nothing more to their webhook endpoints.
   * @param disableApplications whether programs of end users stop working too
   * @throws ApiError DEVELOPER_NOT_FOUND
   */
  suspend(
    actor: Actor,
    developerId: string,
    wanted: { readonly reason: string | null; readonly disableApplications: boolean },
  ): Promise<DeveloperDetails>;
  /** Ends a suspension with everything that it did. @throws ApiError DEVELOPER_NOT_FOUND */
  reinstate(actor: Actor, developerId: string): Promise<DeveloperDetails>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly developers: Pick<Developers, 'account' | 'find' | 'directory' | 'lockSuspensionForShare'>;
  readonly applications: Pick<
    Applications,
    'usersOfLargestApplication' | 'disableAll' | 'restoreAll' | 'countDisabled' | 'idsOfDeveloper'
  >;
  readonly planSubscriptions: Pick<PlanSubscriptions, 'get'>;
  readonly webhooks: Pick<Webhooks, 'suspendOf' | 'reinstateOf'>;
  readonly audit: Audit;
}

export function createDeveloperAccounts(deps: Dependencies): DeveloperAccounts {
  const { knex, developers, applications, planSubscriptions, webhooks, audit } = deps;
  const { directory } = developers;

  async function get(developerId: string): Promise<DeveloperDetails> {
    const developer = await directory.find(developerId);
    const [account, usersOfLargest, applicationsDisabled, subscription, lastSignInAt] = await Promise.all([
      developers.account(developerId),
      applications.usersOfLargestApplication(developerId),
      applications.countDisabled(developerId),
      subscriptionOf(developerId),
      audit.newestOf(developerId, SIGN_INS),
    ]);
    return { ...developer, account, usersOfLargest, applicationsDisabled, subscription, lastSignInAt };
  }

  async function subscriptionOf(developerId: string): Promise<PlanSubscription | null> {
    try {
      return await planSubscriptions.get(developerId);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'SUBSCRIPTION_NOT_FOUND') return null;
      throw error;
    }
  }

  /** Writes an entry into the audit log of the administrator, and into the developer's. */
  async function record(
    trx: Knex.Transaction,
    actor: Actor,
    developerId: string,
    entry: { readonly action: string; readonly data: Readonly<Record<string, unknown>> },
  ): Promise<void> {
    await audit.record(trx, actor, { ...entry, target: developerId });
    await audit.record(trx, { ...actor, developerId }, { ...entry, target: developerId });
  }

  return {
    get,

    async suspend(actor, developerId, { reason, disableApplications }) {
      await directory.find(developerId);
      await knex.transaction(async (trx) => {
        // Applications are locked before their developer, as everywhere.
        const disabled = disableApplications ? await applications.disableAll(trx, developerId) : 0;
        const before = await directory.suspend(trx, developerId, reason);
        // Also when nothing else changes: an endpoint may have been created while the suspension was committed.
        await webhooks.suspendOf(trx, await applications.idsOfDeveloper(trx, developerId));
        if (before.suspended && before.reason === reason && disabled === 0) return;
        const data = { reason, applications_disabled: disabled };
        await record(trx, actor, developerId, { action: 'developer.suspended', data });
      });
      // Also those that were created while this waited for the developer. After that, none can be.
      const isSuspended = async (trx: Knex.Transaction) =>
        (await developers.lockSuspensionForShare(trx, developerId)) !== null;
      if (disableApplications)
        await knex.transaction(async (trx) => {
          const late = await applications.disableAll(trx, developerId, () => isSuspended(trx));
          const data = { reason, applications_disabled: late };
          if (late > 0) await record(trx, actor, developerId, { action: 'developer.suspended', data });
        });
      return get(developerId);
    },

    async reinstate(actor, developerId) {
      await directory.find(developerId);
      await knex.transaction(async (trx) => {
        const restored = await applications.restoreAll(trx, developerId);
        const before = await directory.reinstate(trx, developerId);
        if (!before.suspended) return;
        await webhooks.reinstateOf(trx, await applications.idsOfDeveloper(trx, developerId));
        const data = { applications_enabled: restored };
        await record(trx, actor, developerId, { action: 'developer.reinstated', data });
      });
      return get(developerId);
    },
  };
}
