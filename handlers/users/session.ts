import type { components } from '../../generated/types.ts';
import type { LiveSession } from '../../src/licensing/sessions/sessions.ts';

/** A live session as the contract shows it. */
export function toSession(session: LiveSession): components['schemas']['UserSession'] {
  return {
    session_ref: session.sessionRef,
    began_at: session.beganAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
    last_seen_at: session.lastSeenAt.toISOString(),
    machine: session.machine,
    version: session.version,
    address: session.address,
  };
}
