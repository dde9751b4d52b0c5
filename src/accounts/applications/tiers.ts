import { ApiError, type Fault } from '../../foundation/errors/api-error.ts';
import { findLookalikes, isVisibleName, NAME_FAULT } from '../../foundation/names/names.ts';

/**
 * Refuses a list of tiers in which a new one is unreadable, or looks like another tier of the list. Existing
 * tiers may stay, move and be removed.
 * @param before the application's current tiers
 * @throws ApiError VALIDATION_FAILED with every fault
 */
export function assertTiers(before: readonly string[], after: readonly string[]): void {
  const errors: Fault[] = [];
  const isNew = (tier: string) => !before.includes(tier);
  const fault = (tier: string, detail: string) =>
    errors.push({ pointer: `/tiers/${after.indexOf(tier)}`, detail });
  for (const tier of after) if (isNew(tier) && !isVisibleName(tier)) fault(tier, NAME_FAULT);
  for (const { name, like } of findLookalikes(after)) {
    if (isNew(name)) fault(name, `looks like ${like}, which is already a tier`);
    else if (isNew(like)) fault(like, `looks like ${name}, which is already a tier`);
  }
  if (errors.length === 0) return;
  throw new ApiError('VALIDATION_FAILED', { detail: 'Some tiers are not valid.', errors });
}
