import type { Schemas } from '../../api/client.ts';
import type { Price } from './queries.ts';

/** A price that is being edited. */
export interface PriceDraft {
  /** Identifies the row while others come and go. */
  readonly row: string;
  readonly app_id: string;
  readonly tier: string;
  readonly days: string;
  readonly lifetime: boolean;
  readonly price: string;
}

let rows = 0;
export const nextRow = (): string => `new ${(rows += 1)}`;

export const toDraft = ({ app_id, tier, duration_days, lifetime, price }: Price): PriceDraft => ({
  row: `${app_id} ${tier} ${duration_days}`,
  app_id,
  tier,
  days: duration_days === null ? '' : String(duration_days),
  lifetime,
  price: String(price),
});

export const toInput = ({
  app_id,
  tier,
  days,
  lifetime,
  price,
}: PriceDraft): Schemas['ResellerPriceInput'] => ({
  app_id,
  tier,
  price: Number(price),
  ...(lifetime ? { lifetime: true } : { duration_days: Number(days) }),
});

const BASIS_POINTS = 10_000;

/** The cost of a key for the reseller, rounded up to the minor unit of the currency, as the service computes it. */
export function costOf(price: number, margin: number, currency: string): number {
  const digits =
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  const unit = 10 ** digits;
  const share = Math.round(price * unit) * (BASIS_POINTS - Math.round(margin * 100));
  return Math.ceil(share / BASIS_POINTS) / unit;
}
