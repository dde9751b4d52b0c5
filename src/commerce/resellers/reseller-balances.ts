import type { Knex } from 'knex';
import type { Actor } from '../../foundation/audit/audit.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import { formatMinor, LARGEST_MINOR, toMinor } from '../../foundation/money/money.ts';
import type { Page, PageRequest } from '../../foundation/paging/page.ts';
import type { Ledger, LedgerEntry } from './ledger.ts';
import { findOwned, lockOwnedForUpdate } from './owned-resellers.ts';

/** The balances of a developer's resellers. */
export interface ResellerBalances {
  /**
   * Adds to the balance.
   * @param amount in units of the currency
   * @throws ApiError RESELLER_NOT_FOUND; VALIDATION_FAILED for an amount or a balance that the currency
   *   cannot represent
   */
  credit(actor: Actor, resellerId: string, amount: number, note: string | null): Promise<LedgerEntry>;
  /**
   * Debits the balance.
   * @throws ApiError RESELLER_NOT_FOUND, INSUFFICIENT_BALANCE; VALIDATION_FAILED as `credit` does
   */
  debit(actor: Actor, resellerId: string, amount: number, note: string | null): Promise<LedgerEntry>;
  /** Newest first. @throws ApiError RESELLER_NOT_FOUND */
  listLedger(developerId: string, resellerId: string, page: PageRequest): Promise<Page<LedgerEntry>>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly ledger: Ledger;
}

export function createResellerBalances({ knex, ledger }: Dependencies): ResellerBalances {
  return {
    async credit(actor, resellerId, amount, note) {
      return knex.transaction(async (trx) => {
        const reseller = await lockOwnedForUpdate(trx, actor.developerId, resellerId);
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
        const reseller = await lockOwnedForUpdate(trx, actor.developerId, resellerId);
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
      return ledger.list(await findOwned(knex, developerId, resellerId), page);
    },
  };
}

function amountOf(amount: number, currency: string): number {
  const minor = toMinor(amount, currency);
  if (minor) return minor;
  throw invalidMember('/amount', `must be a valid ${currency} amount above 0`);
}
