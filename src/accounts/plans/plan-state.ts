export type PlanKind = 'subscription' | 'license_quota' | 'reseller_balance';
export type Period = 'monthly' | 'yearly' | 'lifetime';

/** What a plan allows. */
export interface PlanLimits {
  readonly maxApps: number;
  readonly maxUsersPerApp: number;
}

/** The plan that every developer starts with, and returns to when a paid plan ends. */
export const FREE_PLAN = 'free';

/** Which period is meant where the request names none, in order of preference. */
const USUAL: readonly Period[] = ['monthly', 'lifetime', 'yearly'];

/**
 * Chooses among plans of one name by period. Without a period: the monthly one, else the one that is paid
 * once, else the yearly one. A pack has no period, so every period finds it.
 */
export function choosePlan<Plan extends { readonly period: Period; readonly kind: PlanKind }>(
  ofName: readonly Plan[],
  period: 'monthly' | 'yearly' | undefined,
): Plan | undefined {
  if (period === undefined) {
    return USUAL.map((each) => ofName.find((plan) => plan.period === each)).find(
      (plan) => plan !== undefined,
    );
  }
  return ofName.find((plan) => plan.period === period) ?? ofName.find(({ kind }) => kind !== 'subscription');
}

/** How long logins above the limits of the free plan are accepted after a developer's paid plan has ended. */
export const GRACE_MS = 14 * 24 * 60 * 60 * 1000;

/** When the grace period ends that follows the end of a paid plan. */
export function graceEnd(lapsedAt: Date): Date {
  return new Date(lapsedAt.getTime() + GRACE_MS);
}
