import type { components } from '../../generated/types.ts';
import { toDuration } from '../licenses/duration.ts';
import type { LedgerEntry, NewPrice, Price, Reseller } from '../../src/commerce/resellers/resellers.ts';

type Schemas = components['schemas'];

/** A reseller as the contract shows them, to the developer and to the reseller. */
export function toReseller(reseller: Reseller): Schemas['Reseller'] {
  return {
    reseller_id: reseller.resellerId,
    name: reseller.name,
    currency: reseller.currency,
    balance: reseller.balance,
    owed: reseller.owed,
    ...(reseller.waiting > 0 && { waiting: reseller.waiting }),
    commission_margin: reseller.commissionMargin,
    suspended: reseller.suspended,
    created_at: reseller.createdAt.toISOString(),
  };
}

/** A price as the contract shows it. */
export function toPrice(price: Price): Schemas['ResellerPrice'] {
  return {
    app_id: price.appId,
    app_name: price.appName,
    tier: price.tier,
    ...toDuration(price.durationDays),
    price: price.price,
    cost: price.cost,
  };
}

/** Converts a price of a request for the domain. */
export function fromPrice(price: Schemas['ResellerPriceInput']): NewPrice {
  const durationDays = price.duration_days ?? null;
  return { appId: price.app_id, tier: price.tier, durationDays, price: price.price };
}

/** An entry of a ledger as the contract shows it. */
export function toLedgerEntry(entry: LedgerEntry): Schemas['LedgerEntry'] {
  return {
    entry_id: entry.entryId,
    kind: entry.kind,
    amount: entry.amount,
    balance: entry.balance,
    licenses: entry.licenses,
    app_id: entry.appId,
    tier: entry.tier,
    duration_days: entry.durationDays,
    lifetime: entry.tier !== null && entry.durationDays === null,
    reference: entry.reference,
    note: entry.note,
    created_at: entry.createdAt.toISOString(),
  };
}
