import type { components } from '../../generated/types.ts';
import type { BrowserSession } from '../../src/access/browser-sessions/browser-sessions.ts';

/** A browser session as the contract shows it. */
export function toBrowserSession(session: BrowserSession): components['schemas']['BrowserSessionResult'] {
  const { kind, actor, resellerId, expiresAt } = session;
  return {
    status: 'success',
    kind,
    developer_id: kind === 'administrator' ? null : actor.developerId,
    reseller_id: resellerId,
    expiry: expiresAt.toISOString(),
  };
}
