import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { ApiTokens } from '../../accounts/api-tokens/api-tokens.ts';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import { formatMinor, isCurrency } from '../../foundation/money/money.ts';
import type { DayRange } from '../../foundation/day-ranges/day-ranges.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Ledger } from './ledger.ts';
import { findOwned, lockOwnedForUpdate } from './owned-resellers.ts';
import { replacePrices } from './price-store.ts';
import { createResellerBalances, type ResellerBalances } from './reseller-balances.ts';
import { createResellerPrices, type ResellerPrices } from './reseller-prices.ts';
import * as store from './reseller-store.ts';
import type { ResellerRow } from './reseller-store.ts';
import { createResellerTokens, type ResellerTokens } from './reseller-tokens.ts';
import { fromBasisPoints, toBasisPoints, toReseller, type NewReseller, type Reseller } from './reseller.ts';
import { salesOf, type Sales } from './sales.ts';

export type { LedgerEntry } from './ledger.ts';
export type { NewPrice, Price } from './prices.ts';
export type { AfterPayment, BalancePayment, ResellerPayments } from './balance-payments.ts';
export type { ResellerUser } from './reseller-user.ts';
export type { Purchase, Refund, ResellerAccount } from './reseller-account.ts';
export type { NewReseller, Reseller } from './reseller.ts';
export type { Sales } from './sales.ts';

export interface ResellerChanges {
  readonly name?: string | undefined;
  readonly commissionMargin?: number | undefined;
  readonly suspended?: boolean | undefined;
}

/** A developer's resellers: people who sell their license keys. */
export interface Resellers extends ResellerPrices, ResellerBalances, ResellerTokens {
  /** @throws ApiError VALIDATION_FAILED for an unknown currency and a commission of more than two decimals */
  create(actor: Actor, wanted: NewReseller): Promise<Reseller>;
  list(developerId: string, page: PageRequest): Promise<Page<Reseller>>;
  /** @throws ApiError RESELLER_NOT_FOUND, also for a reseller of another developer */
  get(developerId: string, resellerId: string): Promise<Reseller>;
  /**
   * What a reseller bought and returned by day.
   * @throws ApiError RESELLER_NOT_FOUND; VALIDATION_FAILED for an unusable range
   */
  sales(developerId: string, resellerId: string, range: DayRange): Promise<Sales>;
  /** @throws ApiError RESELLER_NOT_FOUND; VALIDATION_FAILED as create does */
  update(actor: Actor, resellerId: string, changes: ResellerChanges): Promise<Reseller>;
  /**
   * Deletes a reseller and its tokens. The licenses stay with the developer.
   * @throws ApiError RESELLER_NOT_FOUND, RESELLER_HAS_BALANCE
   */
  delete(actor: Actor, resellerId: string): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Pick<Applications, 'findOfDeveloper'>;
  readonly apiTokens: ApiTokens;
  readonly audit: Audit;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createResellers(deps: Dependencies): Resellers {
  const { knex, apiTokens, audit, clock, newId } = deps;

  return {
    async create(actor, { name, currency, commissionMargin }) {
      if (!isCurrency(currency)) throw invalidMember('/currency', 'must be a currency of ISO 4217');
      const row: ResellerRow = {
        reseller_id: newId('rsl'),
        developer_id: actor.developerId,
        name,
        currency,
        balance_minor: 0,
        owed_minor: 0,
        waiting_minor: 0,
        margin_basis_points: toBasisPoints(commissionMargin),
        suspended_at: null,
        created_at: clock.now(),
        deleted_at: null,
      };
      await knex.transaction(async (trx) => {
        await store.insertReseller(trx, row);
        const data = { name, currency, commission_margin: commissionMargin };
        await audit.record(trx, actor, { action: 'reseller.created', target: row.reseller_id, data });
      });
      return toReseller(row);
    },

    async list(developerId, request) {
      const page = await readPage(
        request,
        'rsl',
        (row: ResellerRow) => row.reseller_id,
        (range) => store.listResellers(knex, developerId, range),
      );
      return { data: page.data.map(toReseller), nextCursor: page.nextCursor };
    },

    async get(developerId, resellerId) {
      return toReseller(await findOwned(knex, developerId, resellerId));
    },

    async sales(developerId, resellerId, range) {
      return salesOf(knex, clock, await findOwned(knex, developerId, resellerId), range);
    },

    async update(actor, resellerId, { name, commissionMargin, suspended }) {
      return knex.transaction(async (trx) => {
        const before = await lockOwnedForUpdate(trx, actor.developerId, resellerId);
        const after = {
          name: name ?? before.name,
          margin_basis_points:
            commissionMargin === undefined ? before.margin_basis_points : toBasisPoints(commissionMargin),
          suspended_at:
            suspended === undefined
              ? before.suspended_at
              : suspended
                ? (before.suspended_at ?? clock.now())
                : null,
        };
        if ([name, commissionMargin, suspended].every((member) => member === undefined)) {
          return toReseller(before);
        }
        await store.updateReseller(trx, resellerId, after);
        const data = {
          name: after.name,
          commission_margin: fromBasisPoints(after.margin_basis_points),
          suspended: after.suspended_at !== null,
        };
        await audit.record(trx, actor, { action: 'reseller.updated', target: resellerId, data });
        return toReseller({ ...before, ...after });
      });
    },

    async delete(actor, resellerId) {
      await knex.transaction(async (trx) => {
        const reseller = await lockOwnedForUpdate(trx, actor.developerId, resellerId);
        if (reseller.balance_minor > 0) {
          const balance = formatMinor(reseller.balance_minor, reseller.currency);
          throw new ApiError('RESELLER_HAS_BALANCE', { detail: `The reseller still has ${balance}.` });
        }
        await store.updateReseller(trx, resellerId, { deleted_at: clock.now() });
        await apiTokens.revokeOfReseller(trx, resellerId);
        await replacePrices(trx, resellerId, []);
        await audit.record(trx, actor, { action: 'reseller.deleted', target: resellerId });
      });
    },

    ...createResellerPrices(deps),
    ...createResellerBalances(deps),
    ...createResellerTokens(deps),
  };
}
