import type { Services } from '../../services.ts';

type NewPlan = Parameters<Services['plans']['create']>[1];

const COMMON = { currency: 'USD', licenses: null, balance: null, maxLicenses: null } as const;
const PACK = { ...COMMON, period: 'lifetime', maxApps: 0, maxUsersPerApp: 0 } as const;
const PRO = {
  ...COMMON,
  kind: 'subscription',
  name: 'Pro',
  maxApps: 100,
  maxUsersPerApp: 1_000_000,
  features: ['hwid_lock', 'unlimited_logins', 'instant_reseller'],
} as const;

/** One plan of each kind, so that all of them can be tried. */
const DEMO_PLANS: readonly NewPlan[] = [
  {
    ...COMMON,
    kind: 'subscription',
    name: 'Indie',
    price: 9,
    period: 'monthly',
    maxApps: 30,
    maxUsersPerApp: 200_000,
    maxLicenses: 1000,
    features: ['hwid_lock', 'unlimited_logins'],
  },
  { ...PRO, price: 19, period: 'monthly' },
  { ...PRO, price: 190, period: 'yearly' },
  { ...PRO, name: 'Pro forever', price: 490, period: 'lifetime' },
  { ...PACK, kind: 'license_quota', name: '10,000 license keys', price: 25, licenses: 10_000, features: [] },
  { ...PACK, kind: 'reseller_balance', name: 'Reseller balance 100', price: 100, balance: 100, features: [] },
];

/** Sells some plans if none is on sale. */
export async function sellDemoPlans(plans: Services['plans']): Promise<void> {
  const { data } = await plans.listAll({ limit: 2, cursor: undefined });
  if (data.length > 1) return;
  const actor = { kind: 'service', id: 'demo', developerId: 'administrator', address: '127.0.0.1' } as const;
  for (const plan of DEMO_PLANS) await plans.create(actor, plan);
}
