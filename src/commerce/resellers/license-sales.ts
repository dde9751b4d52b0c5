import type { Knex } from 'knex';
import type { Application, Applications } from '../../accounts/applications/applications.ts';
import type { Developers } from '../../accounts/developers/developers.ts';
import type { Actor } from '../../foundation/audit/audit.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { formatMinor, fromMinor, LARGEST_MINOR } from '../../foundation/money/money.ts';
import type { License, Licenses, ResellerLicenses } from '../../licensing/licenses/licenses.ts';
import { createConcurrencyLimit } from '../../platform/concurrency-limit.ts';
import { booking } from './booking.ts';
import { replaceError } from './hidden-applications.ts';
import type { Ledger } from './ledger.ts';
import { findPurchase, insertPurchases } from './ledger-store.ts';
import { findPrice, type PriceRow } from './price-store.ts';
import { costOfKey, costOfKeys } from './reseller-state.ts';
import type { ResellerRow } from './reseller-store.ts';
import { findActiveOwner, lockActiveOwnerForUpdate } from './token-owner.ts';

/** More at once would only wait for each other, and occupy connections of the pool. */
const GENERATIONS_PER_RESELLER = 2;

export interface WantedLicenses {
  readonly appId: string;
  readonly tier: string;
  /** Null is a lifetime. */
  readonly durationDays: number | null;
  readonly amount: number;
  readonly note: string | null;
}

/** Generated licenses and their cost. Amounts are in units of the currency. */
export interface Purchase {
  readonly licenses: readonly License[];
  readonly cost: number;
  /** The balance after the purchase. */
  readonly balance: number;
  readonly currency: string;
  readonly entryId: string;
}

export interface Refund {
  readonly amount: number;
  /** The balance after the refund. */
  readonly balance: number;
  readonly currency: string;
  readonly entryId: string;
}

/** License keys that resellers buy from the developer, and return. */
export interface LicenseSales {
  /**
   * Generates license keys and debits their cost, in one transaction.
   * @throws ApiError PRICE_NOT_FOUND, INSUFFICIENT_BALANCE, TOO_MANY_REQUESTS
   */
  generate(actor: Actor, resellerId: string, wanted: WantedLicenses): Promise<Purchase>;
  /**
   * Returns an unused license for its cost. The key is deleted.
   * @throws ApiError LICENSE_NOT_FOUND, LICENSE_NOT_REFUNDABLE
   */
  refund(actor: Actor, resellerId: string, licenseId: string): Promise<Refund>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Pick<Applications, 'ofDeveloper' | 'lockOfDeveloperForShare'>;
  readonly developers: Pick<Developers, 'takeLicenses'>;
  readonly licenses: Pick<Licenses, 'generate'>;
  readonly resellerLicenses: Pick<ResellerLicenses, 'appOf' | 'takeBack'>;
  readonly ledger: Ledger;
}

export function createLicenseSales(deps: Dependencies): LicenseSales {
  const { knex, applications, developers, licenses, resellerLicenses, ledger } = deps;
  const generations = createConcurrencyLimit({
    limitPerKey: GENERATIONS_PER_RESELLER,
    queuePerKey: 0,
    refusal: () =>
      new ApiError('TOO_MANY_REQUESTS', {
        detail: `${GENERATIONS_PER_RESELLER} other requests of yours are generating keys.`,
        retryAfter: 1,
      }),
  });

  async function priceOf(db: Knex, resellerId: string, wanted: WantedLicenses): Promise<PriceRow> {
    const { appId, tier, durationDays } = wanted;
    const price = await findPrice(db, resellerId, { app_id: appId, tier, duration_days: durationDays });
    if (!price) throw new ApiError('PRICE_NOT_FOUND');
    return price;
  }

  return {
    async generate(actor, resellerId, wanted) {
      const { appId, tier, durationDays, amount, note } = wanted;
      const seen = await findActiveOwner(knex, resellerId);
      // Refuses what the balance cannot pay before anything is generated or locked.
      assertSold(await applications.ofDeveloper(actor.developerId, appId).catch(unknownPrice), tier);
      costFor(seen, await priceOf(knex, resellerId, wanted), amount);
      return generations.run(resellerId, () =>
        knex.transaction(async (trx) => {
          const application = await applications
            .lockOfDeveloperForShare(trx, actor.developerId, appId)
            .catch(unknownPrice);
          assertSold(application, tier);
          const terms = { amount, tier, durationDays, redeemBy: null, note };
          const made = await licenses.generate(trx, actor, application, terms, resellerId);
          const licenseIds = made.map(({ licenseId }) => licenseId);
          // Locked late, because every other change of the reseller waits for this lock; so the price is read
          // again.
          const reseller = await lockActiveOwnerForUpdate(trx, resellerId);
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
          // The commission comes first, so that the balance is never below zero between the entries.
          const posted = await ledger.post(trx, actor, reseller, [
            ...(commission > 0 ? [{ ...about, kind: 'commission', amountMinor: commission } as const] : []),
            { ...about, kind: 'generation', amountMinor: 0 - gross, licenses: amount },
          ]);
          const costOfEach = costOfKey(perKey, reseller.margin_basis_points);
          await insertPurchases(trx, licenseIds, costOfEach, split ? perKey : null);
          // Last, because every other generation of keys for the developer waits for this lock.
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

    async refund(actor, resellerId, licenseId) {
      await findActiveOwner(knex, resellerId);
      const ofApp = await resellerLicenses.appOf(resellerId, licenseId);
      const purchase = ofApp === undefined ? undefined : await findPurchase(knex, licenseId);
      if (ofApp === undefined || !purchase) throw new ApiError('LICENSE_NOT_FOUND');
      return knex.transaction(async (trx) => {
        await applications
          .lockOfDeveloperForShare(trx, actor.developerId, ofApp)
          .catch(replaceError('APPLICATION_NOT_FOUND', 'LICENSE_NOT_FOUND'));
        const { appId, tier, durationDays } = await resellerLicenses.takeBack(
          trx,
          actor,
          resellerId,
          licenseId,
        );
        const reseller = await lockActiveOwnerForUpdate(trx, resellerId);
        const { cost_minor: net } = purchase;
        const { currency, balance_minor: balance } = reseller;
        if (balance + net > LARGEST_MINOR) {
          throw new ApiError('LICENSE_NOT_REFUNDABLE', { detail: 'The refund exceeds the largest balance.' });
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
  };
}

/** @throws ApiError PRICE_NOT_FOUND for a tier that the application no longer has */
function assertSold({ tiers }: Application, tier: string): void {
  if (!tiers.includes(tier)) throw new ApiError('PRICE_NOT_FOUND');
}

/** The cost of keys for a reseller, in minor units. @throws ApiError INSUFFICIENT_BALANCE */
function costFor(reseller: ResellerRow, price: PriceRow, amount: number): number {
  const { currency, balance_minor: balance } = reseller;
  const cost = costOfKeys(price.price_minor, reseller.margin_basis_points, amount);
  if (cost <= BigInt(balance)) return Number(cost);
  throw new ApiError('INSUFFICIENT_BALANCE', {
    detail: `This costs ${formatMinor(cost, currency)}, and the balance is ${formatMinor(balance, currency)}.`,
  });
}

const unknownPrice = replaceError('APPLICATION_NOT_FOUND', 'PRICE_NOT_FOUND');
