import { formatMoney, formatNumber, plural } from '../../../lib/format.ts';
import type { Plan } from './queries.ts';

export const KIND_NAMES: Readonly<Record<Plan['kind'], string>> = {
  subscription: 'Plan',
  license_quota: 'License pack',
  reseller_balance: 'Balance pack',
};

const PER: Readonly<Record<Plan['period'], string>> = {
  monthly: ' a month',
  yearly: ' a year',
  lifetime: '',
};

/** The price, such as `$19.00 a month`. */
export function priceOf({ price, currency, period }: Plan): string {
  return price === 0 ? 'Free' : formatMoney(price, currency) + PER[period];
}

/** What a developer gets, in one line. */
export function contentOf(plan: Plan): string {
  if (plan.kind === 'license_quota') return `Adds ${plural(plan.licenses ?? 0, 'license key')}`;
  if (plan.kind === 'reseller_balance') {
    return `Adds ${formatMoney(plan.balance ?? 0, plan.currency)} to a reseller’s balance`;
  }
  const keys = plan.max_licenses === null ? 'any number of keys' : plural(plan.max_licenses, 'key');
  const users = `${formatNumber(plan.max_users_per_app)} users each`;
  return `${plural(plan.max_apps, 'application')}, ${users}, ${keys}`;
}
