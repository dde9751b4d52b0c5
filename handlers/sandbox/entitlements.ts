import type { components } from '../../generated/types.ts';
import type { SandboxSession } from '../../src/access/sandbox/sandbox.ts';

/** What a session of the sandbox may do, as the contract shows it. */
export function toEntitlements({
  entitlements,
}: SandboxSession): components['schemas']['SandboxEntitlements'] {
  return { plan: entitlements.plan, features: [...entitlements.features] };
}
