import type { PreparedSession } from '../../src/licensing/sessions/sessions.ts';
import type { ClientTrust } from '../../src/foundation/client-trust/client-trust.ts';

/**
 * A new session.
 * @param trust of the request, which the device of the session has signed
 */
export function toDeviceSession(session: PreparedSession, trust: ClientTrust | undefined) {
  return {
    status: 200,
    body: {
      status: 'success',
      token: session.token,
      session_id: session.sessionId,
      device_id: trust!.device!.deviceId,
      expires_at: session.expiresAt.toISOString(),
    },
  } as const;
}
