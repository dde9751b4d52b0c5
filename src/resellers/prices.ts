import { ApiError, faultsDetail, type Fault } from '../errors/api-error.ts';
import { fromMinor, toMinor } from '../money/money.ts';
import type { NamedPriceRow, PriceRow } from './price-store.ts';
import { costOfKey } from './reseller-state.ts';

/** What keys of one kind cost. Amounts are in units of the reseller's currency. */
export interface NewPrice {
  readonly appId: string;
  readonly tier: string;
  /** Null is a lifetime. */
  readonly durationDays: number | null;
  /** Before the commission. */
  readonly price: number;
}

export interface Price extends NewPrice {
  readonly appName: string;
  /** What the reseller pays for a key: the price less his commission. */
  readonly cost: number;
}

/** A row as the domain shows it. */
export function toPrice(
  row: NamedPriceRow,
  { currency, margin_basis_points: margin }: { currency: string; margin_basis_points: number },
): Price {
  return {
    appId: row.app_id,
    appName: row.app_name,
    tier: row.tier,
    durationDays: row.duration_days,
    price: fromMinor(row.price_minor, currency),
    cost: fromMinor(costOfKey(row.price_minor, margin), currency),
  };
}

/**
 * A list of prices as rows.
 * @param tiersOf the tiers of the developer's applications; an application that is not in it is not his
 * @throws ApiError VALIDATION_FAILED with every fault: an application or a tier that is not the developer's, a price that the
 *   currency cannot hold, two prices for the same keys
 */
export function toPriceRows(
  { reseller_id, currency }: { readonly reseller_id: string; readonly currency: string },
  wanted: readonly NewPrice[],
  tiersOf: ReadonlyMap<string, readonly string[]>,
): PriceRow[] {
  const faults: Fault[] = [];
  const places = new Map<string, number>();
  const rows = wanted.map(({ appId, tier, durationDays, price }, index) => {
    const fault = (member: string, detail: string) =>
      faults.push({ pointer: `/prices/${index}${member}`, detail });
    const tiers = tiersOf.get(appId);
    if (!tiers) fault('/app_id', 'must be one of your applications');
    else if (!tiers.includes(tier)) {
      fault('/tier', `must be one of the application's tiers: ${tiers.join(', ')}`);
    }
    const price_minor = toMinor(price, currency);
    if (price_minor === undefined) fault('/price', `must be an amount that ${currency} can hold`);
    const key = JSON.stringify([appId, tier, durationDays]);
    const first = places.get(key);
    if (first === undefined) places.set(key, index);
    else fault('', `is for the same keys as /prices/${first}`);
    return { reseller_id, app_id: appId, tier, duration_days: durationDays, price_minor: price_minor ?? 0 };
  });
  if (faults.length > 0) {
    const { pointer, detail } = faults[0]!;
    throw new ApiError('VALIDATION_FAILED', {
      detail: faults.length === 1 ? `${pointer} ${detail}.` : faultsDetail(faults.length),
      errors: faults,
    });
  }
  return rows;
}
