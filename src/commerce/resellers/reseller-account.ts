import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Developers } from '../../accounts/developers/developers.ts';
import type { Actor } from '../../foundation/audit/audit.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { DayRange } from '../../foundation/day-ranges/day-ranges.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type {
  Licenses,
  ResellerLicense,
  ResellerLicenseFilter,
  ResellerLicenses,
} from '../../licensing/licenses/licenses.ts';
import { standing, timelinesOf } from '../../licensing/subscriptions/subscriptions.ts';
import type { Users } from '../../licensing/users/users.ts';
import type { Clock } from '../../platform/clock.ts';
import { replaceError } from './hidden-applications.ts';
import type { Ledger, LedgerEntry } from './ledger.ts';
import { createLicenseSales, type LicenseSales } from './license-sales.ts';
import { usablePrices, type Price } from './prices.ts';
import type { ResellerUser } from './reseller-user.ts';
import { toReseller, type Reseller } from './reseller.ts';
import { salesOf, type Sales } from './sales.ts';
import { findActiveOwner, findTokenOwner } from './token-owner.ts';

export type { Purchase, Refund } from './license-sales.ts';

/**
 * What resellers do with their own tokens. What belongs to another reseller, or to the developer alone, does
 * not exist for them. Each method throws ApiError UNAUTHORIZED when the reseller was deleted; those that
 * change something throw RESELLER_SUSPENDED too.
 */
export interface ResellerAccount extends LicenseSales {
  get(resellerId: string): Promise<{ readonly reseller: Reseller; readonly prices: readonly Price[] }>;
  listLicenses(
    resellerId: string,
    filter: ResellerLicenseFilter,
    page: PageRequest,
  ): Promise<Page<ResellerLicense>>;
  listLedger(resellerId: string, page: PageRequest): Promise<Page<LedgerEntry>>;
  /** What was bought and returned by day. @throws ApiError VALIDATION_FAILED for an unusable range */
  sales(resellerId: string, range: DayRange): Promise<Sales>;
  listUsers(resellerId: string, page: PageRequest): Promise<Page<ResellerUser>>;
  /** Unbinds a user from their machine and ends their sessions. @throws ApiError USER_NOT_FOUND */
  resetHwid(actor: Actor, resellerId: string, userId: string): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly developers: Pick<Developers, 'takeLicenses'>;
  readonly licenses: Licenses;
  readonly resellerLicenses: ResellerLicenses;
  readonly users: Users;
  readonly ledger: Ledger;
  readonly clock: Clock;
}

export function createResellerAccount(deps: Dependencies): ResellerAccount {
  const { knex, applications, resellerLicenses, users, ledger, clock } = deps;
  /** Users as a reseller sees them, without those deleted in the meantime. */
  async function resellerUsers(developerId: string, userIds: readonly string[]): Promise<ResellerUser[]> {
    const found = new Map((await users.named(knex, userIds)).map((user) => [user.userId, user]));
    const appIds = [...new Set([...found.values()].map(({ appId }) => appId))];
    const own = await applications.findOfDeveloper(knex, developerId, appIds);
    const timelines = await timelinesOf(knex, userIds);
    const now = clock.now();
    return userIds.flatMap((userId) => {
      const user = found.get(userId);
      const application = user && own.get(user.appId);
      if (!application) return [];
      return [{ ...user, subscription: standing(timelines.get(userId) ?? [], application, now) }];
    });
  }

  return {
    ...createLicenseSales(deps),

    async get(resellerId) {
      const row = await findTokenOwner(knex, resellerId);
      return { reseller: toReseller(row), prices: await usablePrices(knex, applications, row) };
    },

    async listLicenses(resellerId, filter, page) {
      const { developer_id: developerId } = await findTokenOwner(knex, resellerId);
      return resellerLicenses.list({ resellerId, developerId }, filter, page);
    },

    async listLedger(resellerId, page) {
      return ledger.list(await findTokenOwner(knex, resellerId), page);
    },

    async sales(resellerId, range) {
      return salesOf(knex, clock, await findTokenOwner(knex, resellerId), range);
    },

    async listUsers(resellerId, request) {
      const { developer_id: developerId } = await findTokenOwner(knex, resellerId);
      const page = await readPage(
        request,
        'usr',
        (userId: string) => userId,
        (range) => resellerLicenses.holders({ resellerId, developerId }, range),
      );
      return { data: await resellerUsers(developerId, page.data), nextCursor: page.nextCursor };
    },

    async resetHwid(actor, resellerId, userId) {
      await findActiveOwner(knex, resellerId);
      const appId = await resellerLicenses.appOfHolder(resellerId, userId);
      if (appId === undefined) throw new ApiError('USER_NOT_FOUND');
      await users
        .resetHwid(actor, appId, userId)
        .catch(replaceError('APPLICATION_NOT_FOUND', 'USER_NOT_FOUND'));
    },
  };
}
