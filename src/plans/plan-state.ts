export type PlanKind = 'subscription' | 'license_quota' | 'reseller_balance';
export type Period = 'monthly' | 'yearly' | 'lifetime';

/** The plan that everybody begins with, and falls back to. */
export const FREE_PLAN = 'free';

/** What is meant where no period is given. */
const USUAL: readonly Period[] = ['monthly', 'lifetime', 'yearly'];

/**
 * The plan of a name that somebody wants: that of the period, or where none is given the monthly one, else what is paid once,
 * else the yearly one. A pack, which has no period, is found with any.
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

/** How long the users of a developer go on as before when his paid plan has ended. */
export const GRACE_MS = 14 * 24 * 60 * 60 * 1000;

/** When the time is over in which the users of a developer whose plan has lapsed go on as before. */
export function graceEnd(lapsedAt: Date): Date {
  return new Date(lapsedAt.getTime() + GRACE_MS);
}
