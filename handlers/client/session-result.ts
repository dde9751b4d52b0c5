import type { PreparedSession } from '../../src/licensing/sessions/sessions.ts';

/** The v2 login result, without its signature. */
export function toSessionResult({ token, expiresAt }: PreparedSession) {
  return { status: 'success', token, expires_at: expiresAt.toISOString() } as const;
}
