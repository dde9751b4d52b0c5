import type { Knex } from 'knex';
import type { ApiToken, ApiTokens, NewApiToken } from '../api-tokens/api-tokens.ts';
import type { Actor, Audit } from '../audit/audit.ts';
import type { Scope } from '../developers/developers.ts';
import { ApiError, invalidMember } from '../errors/api-error.ts';
import { formatMinor, isCurrency, LARGEST_MINOR, toMinor } from '../money/money.ts';
import { readPage, type Page, type PageRequest } from '../paging/page.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Ledger, LedgerEntry } from './ledger.ts';
import * as priceStore from './price-store.ts';
import { toPrice, toPriceRows, type NewPrice, type Price } from './prices.ts';
import { fromBasisPoints, toBasisPoints, toReseller, type NewReseller, type Reseller } from './reseller.ts';
import * as store from './reseller-store.ts';
import type { ResellerRow } from './reseller-store.ts';

export type { LedgerEntry } from './ledger.ts';
export type { NewPrice, Price } from './prices.ts';
export type { AfterPayment, BalancePayment, ResellerPayments } from './balance-payments.ts';
export type { OwnUser } from './own-user.ts';
export type { Purchase, Refund, ResellerAccount } from './reseller-account.ts';
export type { NewReseller, Reseller } from './reseller.ts';

export interface ResellerChanges {
  readonly name?: string | undefined;
  readonly commissionMargin?: number | undefined;
  readonly suspended?: boolean | undefined;
}

/** What a developer does with the people who sell his licence keys. */
export interface Resellers {
  /** @throws ApiError VALIDATION_FAILED for an unknown currency and a commission of more than two decimals */
  create(actor: Actor, wanted: NewReseller): Promise<Reseller>;
  list(developerId: string, page: PageRequest): Promise<Page<Reseller>>;
  /** @throws ApiError RESELLER_NOT_FOUND, also for another developer's */
  get(developerId: string, resellerId: string): Promise<Reseller>;
  /** @throws ApiError RESELLER_NOT_FOUND; VALIDATION_FAILED as create does */
  update(actor: Actor, resellerId: string, changes: ResellerChanges): Promise<Reseller>;
  /**
   * Ends a reseller, the tokens with it. The licences stay with the developer.
   * @throws ApiError RESELLER_NOT_FOUND, RESELLER_HAS_BALANCE
   */
  delete(actor: Actor, resellerId: string): Promise<void>;
  /**
   * Puts a list of prices in the place of the one before.
   * @throws ApiError RESELLER_NOT_FOUND; VALIDATION_FAILED for what is not the developer's, amounts that the currency cannot
   *   hold, and two prices for the same keys
   */
  setPrices(actor: Actor, resellerId: string, prices: readonly NewPrice[]): Promise<Price[]>;
  /** Those that can be used: of applications and tiers that still are. @throws ApiError RESELLER_NOT_FOUND */
  listPrices(developerId: string, resellerId: string): Promise<Price[]>;
  /**
   * Adds to the balance.
   * @param amount in units of the currency
   * @throws ApiError RESELLER_NOT_FOUND; VALIDATION_FAILED for an amount or a balance that the currency cannot hold
   */
  credit(actor: Actor, resellerId: string, amount: number, note: string | null): Promise<LedgerEntry>;
  /** Takes from the balance. @throws ApiError RESELLER_NOT_FOUND, INSUFFICIENT_BALANCE; VALIDATION_FAILED as credit does */
  debit(actor: Actor, resellerId: string, amount: number, note: string | null): Promise<LedgerEntry>;
  /** Newest first. @throws ApiError RESELLER_NOT_FOUND */
  listLedger(developerId: string, resellerId: string, page: PageRequest): Promise<Page<LedgerEntry>>;
  /**
   * Makes a token for the reseller's own side.
   * @throws ApiError RESELLER_NOT_FOUND and those of ApiTokens.create
   */
  createToken(
    actor: Actor,
    held: readonly Scope[],
    resellerId: string,
    wanted: NewApiToken,
  ): Promise<{ readonly apiToken: ApiToken; readonly token: string }>;
  /** @throws ApiError RESELLER_NOT_FOUND */
  listTokens(developerId: string, resellerId: string, page: PageRequest): Promise<Page<ApiToken>>;
  /** @throws ApiError RESELLER_NOT_FOUND, TOKEN_NOT_FOUND */
  revokeToken(actor: Actor, resellerId: string, tokenId: string): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly apiTokens: ApiTokens;
  readonly audit: Audit;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createResellers({ knex, apiTokens, audit, ledger, clock, newId }: Dependencies): Resellers {
  function own(row: ResellerRow | undefined, developerId: string): ResellerRow {
    if (row?.developer_id !== developerId) throw new ApiError('RESELLER_NOT_FOUND');
    return row;
  }

  const find = async (db: Knex, developerId: string, resellerId: string) =>
    own(await store.findReseller(db, resellerId), developerId);

  /** Nobody waits for what is not his. */
  async function lock(trx: Knex.Transaction, developerId: string, resellerId: string): Promise<ResellerRow> {
    await find(trx, developerId, resellerId);
    return own(await store.lockReseller(trx, resellerId), developerId);
  }

  function amountOf(amount: number, currency: string): number {
    const minor = toMinor(amount, currency);
    if (minor) return minor;
    throw invalidMember('/amount', `must be an amount above 0 that ${currency} can hold`);
  }

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
      return toReseller(await find(knex, developerId, resellerId));
    },

    async update(actor, resellerId, { name, commissionMargin, suspended }) {
      return knex.transaction(async (trx) => {
        const before = await lock(trx, actor.developerId, resellerId);
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
        const reseller = await lock(trx, actor.developerId, resellerId);
        if (reseller.balance_minor > 0) {
          const balance = formatMinor(reseller.balance_minor, reseller.currency);
          throw new ApiError('RESELLER_HAS_BALANCE', { detail: `The reseller still has ${balance}.` });
        }
        await store.updateReseller(trx, resellerId, { deleted_at: clock.now() });
        await store.deleteTokensOfReseller(trx, resellerId);
        await priceStore.replacePrices(trx, resellerId, []);
        await audit.record(trx, actor, { action: 'reseller.deleted', target: resellerId });
      });
    },

    async setPrices(actor, resellerId, wanted) {
      return knex.transaction(async (trx) => {
        const reseller = await lock(trx, actor.developerId, resellerId);
        const appIds = [...new Set(wanted.map(({ appId }) => appId))];
        const tiersOf = await priceStore.findTiers(trx, actor.developerId, appIds);
        await priceStore.replacePrices(trx, resellerId, toPriceRows(reseller, wanted, tiersOf));
        await audit.record(trx, actor, {
          action: 'reseller.priced',
          target: resellerId,
          data: { prices: wanted.length },
        });
        const rows = await priceStore.listPrices(trx, resellerId);
        return rows.map((row) => toPrice(row, reseller));
      });
    },

    async listPrices(developerId, resellerId) {
      const reseller = await find(knex, developerId, resellerId);
      const rows = await priceStore.listPrices(knex, resellerId);
      return rows.map((row) => toPrice(row, reseller));
    },

    async credit(actor, resellerId, amount, note) {
      return knex.transaction(async (trx) => {
        const reseller = await lock(trx, actor.developerId, resellerId);
        const amountMinor = amountOf(amount, reseller.currency);
        if (reseller.balance_minor + amountMinor > LARGEST_MINOR) {
          const largest = formatMinor(LARGEST_MINOR, reseller.currency);
          throw invalidMember('/amount', `must not raise the balance above ${largest}`);
        }
        const movement = { kind: 'credit', amountMinor, note } as const;
        const { entries } = await ledger.post(trx, actor, reseller, [movement]);
        return entries[0]!;
      });
    },

    async debit(actor, resellerId, amount, note) {
      return knex.transaction(async (trx) => {
        const reseller = await lock(trx, actor.developerId, resellerId);
        const amountMinor = amountOf(amount, reseller.currency);
        if (amountMinor > reseller.balance_minor) {
          throw new ApiError('INSUFFICIENT_BALANCE', {
            status: 409,
            detail: `The balance is ${formatMinor(reseller.balance_minor, reseller.currency)}.`,
          });
        }
        const movement = { kind: 'debit', amountMinor: -amountMinor, note } as const;
        const { entries } = await ledger.post(trx, actor, reseller, [movement]);
        return entries[0]!;
      });
    },

    async listLedger(developerId, resellerId, page) {
      return ledger.list(await find(knex, developerId, resellerId), page);
    },

    async createToken(actor, held, resellerId, wanted) {
      await find(knex, actor.developerId, resellerId);
      return apiTokens.create(actor, held, wanted, resellerId);
    },

    async listTokens(developerId, resellerId, page) {
      await find(knex, developerId, resellerId);
      return apiTokens.list(developerId, resellerId, page);
    },

    async revokeToken(actor, resellerId, tokenId) {
      await find(knex, actor.developerId, resellerId);
      await apiTokens.revoke(actor, tokenId, resellerId);
    },
  };
}
