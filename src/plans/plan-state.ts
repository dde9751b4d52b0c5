import type { Period } from './plan-store.ts';

/** The plan that everybody begins with, and falls back to. */
export const FREE_PLAN = 'free';

/** What is meant where no period is given. */
const USUAL: readonly Period[] = ['monthly', 'lifetime', 'yearly'];

/**
 * The plan of a name that somebody wants: that of the period, or where none is given the monthly one, else what is paid once,
 * else the yearly one. What is sold without a period is found with any.
 */
export function choosePlan<Plan extends { readonly period: Period }>(
  ofName: readonly Plan[],
  period: 'monthly' | 'yearly' | undefined,
): Plan | undefined {
  const wanted = period === undefined ? USUAL : ([period, 'lifetime'] as const);
  return wanted.map((each) => ofName.find((plan) => plan.period === each)).find((plan) => plan !== undefined);
}
