import type { Knex } from 'knex';
import type { Application, Applications } from '../../accounts/applications/applications.ts';
import { ApiError, faultsDetail, type Fault } from '../../foundation/errors/api-error.ts';
import { fromMinor, toMinor } from '../../foundation/money/money.ts';
import { listPrices, type PriceRow } from './price-store.ts';
import { costOfKey } from './reseller-state.ts';
import type { ResellerRow } from './reseller-store.ts';

/** The price of one kind of key. Amounts are in units of the reseller's currency. */
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
  /** What the reseller pays for a key: the price less the commission. */
  readonly cost: number;
}

/**
 * The prices of applications and tiers that still exist, sorted by application (oldest first), rank of the
 * tier, and duration.
 */
export async function usablePrices(
  db: Knex,
  applications: Pick<Applications, 'findOfDeveloper'>,
  reseller: ResellerRow,
): Promise<Price[]> {
  const rows = await listPrices(db, reseller.reseller_id);
  const appIds = [...new Set(rows.map(({ app_id }) => app_id))];
  const own = await applications.findOfDeveloper(db, reseller.developer_id, appIds);
  const rankOf = ({ app_id, tier }: PriceRow) => own.get(app_id)?.tiers.indexOf(tier) ?? -1;
  return rows
    .filter((row) => rankOf(row) >= 0)
    .sort(
      (a, b) =>
        compare(a.app_id, b.app_id) ||
        rankOf(a) - rankOf(b) ||
        compare(a.duration_days ?? Infinity, b.duration_days ?? Infinity),
    )
    .map((row) => toPrice(row, own.get(row.app_id)!, reseller));
}

function compare<Value extends string | number>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A price with its cost, in units of the currency. */
function toPrice(
  row: PriceRow,
  { name }: Application,
  { currency, margin_basis_points: margin }: ResellerRow,
): Price {
  return {
    appId: row.app_id,
    appName: name,
    tier: row.tier,
    durationDays: row.duration_days,
    price: fromMinor(row.price_minor, currency),
    cost: fromMinor(costOfKey(row.price_minor, margin), currency),
  };
}

/**
 * The rows of a price list.
 * @param own the developer's applications among those of the list
 * @throws ApiError VALIDATION_FAILED with every fault: an application or a tier that is not the developer's,
 *   a price that the currency cannot represent, two prices for the same keys
 */
export function toPriceRows(
  { reseller_id, currency }: { readonly reseller_id: string; readonly currency: string },
  wanted: readonly NewPrice[],
  own: ReadonlyMap<string, Application>,
): PriceRow[] {
  const faults: Fault[] = [];
  const places = new Map<string, number>();
  const rows = wanted.map(({ appId, tier, durationDays, price }, index) => {
    const fault = (member: string, detail: string) =>
      faults.push({ pointer: `/prices/${index}${member}`, detail });
    const tiers = own.get(appId)?.tiers;
    if (!tiers) fault('/app_id', 'must be one of your applications');
    else if (!tiers.includes(tier)) {
      fault('/tier', `must be one of the application's tiers: ${tiers.join(', ')}`);
    }
    const price_minor = toMinor(price, currency);
    if (price_minor === undefined) fault('/price', `must be a valid ${currency} amount`);
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
