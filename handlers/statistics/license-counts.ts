import type { components } from '../../generated/types.ts';
import type { LicenseNumbers } from '../../src/licensing/licenses/licenses.ts';

/** Numbers of licenses as the contract shows them. */
export function toLicenseCounts(numbers: LicenseNumbers): components['schemas']['LicenseCounts'] {
  const { total, unused, redeemed, paused, banned } = numbers;
  return { total, unused, redeemed, paused, banned };
}
