import type { Knex } from 'knex';
import type { Actor } from '../audit/audit.ts';
import type { Developers } from '../developers/developers.ts';
import type { Applications } from '../applications/applications.ts';
import { ApiError } from '../errors/api-error.ts';
import type {
  License,
  Licenses,
  ResellerLicense,
  ResellerLicenseFilter,
  ResellerLicenses,
} from '../licenses/licenses.ts';
import { formatMinor, fromMinor, LARGEST_MINOR } from '../money/money.ts';
import { readPage, type Page, type PageRequest } from '../paging/page.ts';
import type { Clock } from '../platform/clock.ts';
import type { Users } from '../users/users.ts';
import { booking } from './booking.ts';
import { findCustomer, listCustomers, type CustomerRow } from './customer-store.ts';
import { createGenerationTurns } from './generation-turns.ts';
import type { Ledger, LedgerEntry } from './ledger.ts';
import { findPurchase, insertPurchases } from './ledger-store.ts';
import { toOwnUser, type OwnUser } from './own-user.ts';
import { findPrice, listPrices, type PriceRow } from './price-store.ts';
import { toPrice, type Price } from './prices.ts';
import { costOfKey, costOfKeys } from './reseller-state.ts';
import { toReseller, type Reseller } from './reseller.ts';
import { findReseller, lockReseller, type ResellerRow } from './reseller-store.ts';

export interface WantedLicenses {
  readonly appId: string;
  readonly tier: string;
  /** Null is a lifetime. */
  readonly durationDays: number | null;
  readonly amount: number;
  readonly note: string | null;
}

/** Licences that were generated, and what they cost. Amounts are in units of the currency. */
export interface Purchase {
  readonly licenses: readonly License[];
  readonly cost: number;
  /** After it. */
  readonly balance: number;
  readonly currency: string;
  readonly entryId: string;
}

export interface Refund {
  readonly amount: number;
  /** After it. */
  readonly balance: number;
  readonly currency: string;
  readonly entryId: string;
}

/**
 * What a reseller does with his own tokens. Whatever is another reseller's, or the developer's own, is as if it were not.
 * Each throws ApiError UNAUTHORIZED when the reseller is gone, and those that change something RESELLER_SUSPENDED.
 */
export interface ResellerAccount {
  get(resellerId: string): Promise<{ readonly reseller: Reseller; readonly prices: readonly Price[] }>;
  /**
   * Generates keys and takes their cost off the balance, in one transaction.
   * @throws ApiError PRICE_NOT_FOUND, INSUFFICIENT_BALANCE, TOO_MANY_REQUESTS
   */
  generate(actor: Actor, resellerId: string, wanted: WantedLicenses): Promise<Purchase>;
  listLicenses(
    resellerId: string,
    filter: ResellerLicenseFilter,
    page: PageRequest,
  ): Promise<Page<ResellerLicense>>;
  /**
   * Gives an unused licence back for what it cost: the key is gone for good.
   * @throws ApiError LICENSE_NOT_FOUND, LICENSE_NOT_REFUNDABLE
   */
  refund(actor: Actor, resellerId: string, licenseId: string): Promise<Refund>;
  listLedger(resellerId: string, page: PageRequest): Promise<Page<LedgerEntry>>;
  listUsers(resellerId: string, page: PageRequest): Promise<Page<OwnUser>>;
  /** Unbinds a user from his machine and ends his sessions. @throws ApiError USER_NOT_FOUND */
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
  const { knex, applications, developers, licenses, resellerLicenses, users, ledger, clock } = deps;
  const limited = createGenerationTurns();

  const find = async (resellerId: string) => known(await findReseller(knex, resellerId));
  const findActive = async (resellerId: string) => active(await find(resellerId));
  const lockActive = async (trx: Knex.Transaction, resellerId: string) =>
    active(known(await lockReseller(trx, resellerId)));

  async function priceOf(db: Knex, resellerId: string, wanted: WantedLicenses): Promise<PriceRow> {
    const { appId, tier, durationDays } = wanted;
    const price = await findPrice(db, resellerId, { app_id: appId, tier, duration_days: durationDays });
    if (!price) throw new ApiError('PRICE_NOT_FOUND');
    return price;
  }

  return {
    async get(resellerId) {
      const row = await find(resellerId);
      const prices = await listPrices(knex, resellerId);
      return { reseller: toReseller(row), prices: prices.map((price) => toPrice(price, row)) };
    },

    async generate(actor, resellerId, wanted) {
      const { appId, tier, durationDays, amount, note } = wanted;
      const seen = await findActive(resellerId);
      // What cannot be paid for is refused before anything is made, or waits for anything.
      costFor(seen, await priceOf(knex, resellerId, wanted), amount);
      return limited(resellerId, () =>
        knex.transaction(async (trx) => {
          const application = await applications
            .holdOfDeveloper(trx, actor.developerId, appId)
            .catch(insteadOf('APPLICATION_NOT_FOUND', 'PRICE_NOT_FOUND'));
          if (!application.tiers.includes(tier)) throw new ApiError('PRICE_NOT_FOUND');
          const terms = { amount, tier, durationDays, redeemBy: null, note };
          const made = await licenses.generate(trx, actor, application, terms, resellerId);
          const licenseIds = made.map(({ licenseId }) => licenseId);
          // Late, because every other change of the reseller waits for it. What holds now is read again.
          const reseller = await lockActive(trx, resellerId);
          const price = await priceOf(trx, resellerId, wanted);
          const net = costFor(reseller, price, amount);
          const { price_minor: perKey } = price;
          const { currency, balance_minor: balance } = reseller;
          const { gross, commission, split } = booking(
            balance,
            BigInt(perKey) * BigInt(amount),
            BigInt(net),
            'commission',
          );
          const about = { appId, tier, durationDays, reference: licenseIds[0]!, note };
          // The commission comes first: in between, the balance is never below zero.
          const posted = await ledger.post(trx, actor, reseller, [
            ...(commission > 0 ? [{ ...about, kind: 'commission', amountMinor: commission } as const] : []),
            { ...about, kind: 'generation', amountMinor: 0 - gross, licenses: amount },
          ]);
          const costOfEach = costOfKey(perKey, reseller.margin_basis_points);
          await insertPurchases(trx, licenseIds, costOfEach, split ? perKey : null);
          // Last, because whoever else makes keys for the developer waits for it.
          await developers.takeLicenses(trx, actor.developerId, amount);
          return {
            licenses: made,
            cost: fromMinor(net, currency),
            balance: fromMinor(posted.balance_minor, currency),
            currency,
            entryId: posted.entries.find(({ kind }) => kind === 'generation')!.entryId,
          };
        }),
      );
    },

    async listLicenses(resellerId, filter, page) {
      await find(resellerId);
      return resellerLicenses.list(resellerId, filter, page);
    },

    async refund(actor, resellerId, licenseId) {
      await findActive(resellerId);
      const purchase = await findPurchase(knex, resellerId, licenseId);
      if (!purchase) throw new ApiError('LICENSE_NOT_FOUND');
      return knex.transaction(async (trx) => {
        await applications
          .holdOfDeveloper(trx, actor.developerId, purchase.app_id)
          .catch(insteadOf('APPLICATION_NOT_FOUND', 'LICENSE_NOT_FOUND'));
        const { appId, tier, durationDays } = await resellerLicenses.takeBack(
          trx,
          actor,
          resellerId,
          licenseId,
        );
        const reseller = await lockActive(trx, resellerId);
        const { cost_minor: net } = purchase;
        const { currency, balance_minor: balance } = reseller;
        if (balance + net > LARGEST_MINOR) {
          throw new ApiError('LICENSE_NOT_REFUNDABLE', { detail: 'The balance cannot hold more.' });
        }
        const { gross, commission } = booking(
          balance,
          BigInt(purchase.gross_minor ?? net),
          BigInt(net),
          'gross',
        );
        const about = { appId, tier, durationDays, reference: licenseId };
        const posted = await ledger.post(trx, actor, reseller, [
          { ...about, kind: 'refund', amountMinor: gross, licenses: 1 },
          ...(commission > 0 ? [{ ...about, kind: 'commission', amountMinor: -commission } as const] : []),
        ]);
        return {
          amount: fromMinor(net, currency),
          balance: fromMinor(posted.balance_minor, currency),
          currency,
          entryId: posted.entries[0]!.entryId,
        };
      });
    },

    async listLedger(resellerId, page) {
      return ledger.list(await find(resellerId), page);
    },

    async listUsers(resellerId, request) {
      await find(resellerId);
      const page = await readPage(
        request,
        'usr',
        (row: CustomerRow) => row.user_id,
        (range) => listCustomers(knex, resellerId, range),
      );
      const now = clock.now();
      return { data: page.data.map((row) => toOwnUser(row, now)), nextCursor: page.nextCursor };
    },

    async resetHwid(actor, resellerId, userId) {
      await findActive(resellerId);
      const appId = await findCustomer(knex, resellerId, userId);
      if (appId === undefined) throw new ApiError('USER_NOT_FOUND');
      await users.resetHwid(actor, appId, userId).catch(insteadOf('APPLICATION_NOT_FOUND', 'USER_NOT_FOUND'));
    },
  };
}

/** A token that outlived its reseller is nobody's. */
function known(row: ResellerRow | undefined): ResellerRow {
  if (!row) throw new ApiError('UNAUTHORIZED');
  return row;
}

function active(row: ResellerRow): ResellerRow {
  if (row.suspended_at !== null) throw new ApiError('RESELLER_SUSPENDED');
  return row;
}

/** What keys cost a reseller, in minor units. @throws ApiError INSUFFICIENT_BALANCE */
function costFor(reseller: ResellerRow, price: PriceRow, amount: number): number {
  const { currency, balance_minor: balance } = reseller;
  const cost = costOfKeys(price.price_minor, reseller.margin_basis_points, amount);
  if (cost <= BigInt(balance)) return Number(cost);
  throw new ApiError('INSUFFICIENT_BALANCE', {
    detail: `This costs ${formatMinor(cost, currency)}, and the balance is ${formatMinor(balance, currency)}.`,
  });
}

/** The reseller is told nothing of the developer's applications. */
function insteadOf(
  code: 'APPLICATION_NOT_FOUND',
  other: 'PRICE_NOT_FOUND' | 'LICENSE_NOT_FOUND' | 'USER_NOT_FOUND',
): (error: unknown) => never {
  return (error) => {
    if (error instanceof ApiError && error.code === code) throw new ApiError(other, { cause: error });
    throw error;
  };
}
