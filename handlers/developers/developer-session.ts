import type { components } from '../../generated/types.ts';
import type { DeveloperSession } from '../../src/developers/developers.ts';

/** A developer's session as the contract shows it. */
export function toDeveloperSession(session: DeveloperSession): components['schemas']['DeveloperSession'] {
  return {
    status: 'success',
    developer_id: session.developerId,
    token: session.token,
    expiry: session.expiresAt.toISOString(),
  };
}
