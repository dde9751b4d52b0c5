import type { components } from '../../generated/types.ts';
import type { DeveloperSession } from '../../src/accounts/developers/developers.ts';

/** A developer's session as the contract shows it. */
export function toDeveloperSession(
  session: DeveloperSession,
): components['schemas']['DeveloperSessionResult'] {
  return {
    status: 'success',
    developer_id: session.developerId,
    token: session.token,
    expiry: session.expiresAt.toISOString(),
  };
}
