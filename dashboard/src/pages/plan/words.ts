import { formatMoney, formatNumber } from '../../lib/format.ts';
import type { Plan } from './queries.ts';

export type Period = 'monthly' | 'yearly' | 'lifetime';

const EACH = { monthly: 'a month', yearly: 'a year', lifetime: 'once' } as const;

/** What a plan costs. Plans of an older version have no currency. */
export const priceOf = ({ price, currency = 'USD' }: Plan): string => formatMoney(price, currency);

/** How often the price is paid. */
export const rhythmOf = ({ price, period = 'lifetime' }: Plan): string => (price === 0 ? '' : EACH[period]);

/** What a plan allows, or a pack adds. */
export function contentOf(plan: Plan): readonly string[] {
  const {
    kind = 'subscription',
    max_apps,
    max_users_per_app,
    max_licenses,
    licenses,
    balance,
    currency,
  } = plan;
  if (kind === 'license_quota') return [`${formatNumber(licenses ?? 0)} more license keys`];
  if (kind === 'reseller_balance')
    return [`${formatMoney(balance ?? 0, currency ?? 'USD')} for the balance of a reseller`];
  return [
    `${formatNumber(max_apps)} applications`,
    `${formatNumber(max_users_per_app)} users in each application`,
    max_licenses === null || max_licenses === undefined
      ? 'Unlimited license keys'
      : `${formatNumber(max_licenses)} license keys`,
    ...(plan.features ?? []).map((feature) => sentenceOf(feature)),
  ];
}

/** `priority_support` and `hwid_lock` as words. */
function sentenceOf(feature: string): string {
  const words = feature.replaceAll('_', ' ').replace(/\bhwid\b/, 'hardware');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const isSubscription = ({ kind }: Plan): boolean => kind === undefined || kind === 'subscription';
