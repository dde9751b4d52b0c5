import type { components } from '../../generated/types.ts';
import type { SandboxSession } from '../../src/access/sandbox/sandbox.ts';

/** The entitlements of a sandbox session, as the contract shows them. */
export function toEntitlements({
  entitlements,
}: SandboxSession): components['schemas']['SandboxEntitlements'] {
  return { plan: entitlements.plan, features: [...entitlements.features] };
}
