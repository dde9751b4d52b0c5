import { ApiError, type Fault } from '../errors/api-error.ts';
import { alikeNames, isVisibleName, NAME_FAULT } from '../names/names.ts';

/**
 * Refuses a list of tiers with a new one that cannot be read, or that people would take for another tier of the list. Tiers
 * that the application has already may stay, move and go.
 * @param before the application's tiers so far
 * @throws ApiError VALIDATION_FAILED with every fault
 */
export function assertTiers(before: readonly string[], after: readonly string[]): void {
  const errors: Fault[] = [];
  const isNew = (tier: string) => !before.includes(tier);
  const fault = (tier: string, detail: string) =>
    errors.push({ pointer: `/tiers/${after.indexOf(tier)}`, detail });
  for (const tier of after) if (isNew(tier) && !isVisibleName(tier)) fault(tier, NAME_FAULT);
  for (const { name, like } of alikeNames(after)) {
    if (isNew(name)) fault(name, `is like ${like}, which is a tier already`);
    else if (isNew(like)) fault(like, `is like ${name}, which is a tier already`);
  }
  if (errors.length === 0) return;
  throw new ApiError('VALIDATION_FAILED', { detail: 'The list has tiers that are not valid.', errors });
}
