import type { Handshake } from '../../src/accounts/applications/applications.ts';

/** The result of a handshake. */
export function toHandshake({ sessionId, name, statusCode, downloadUrl }: Handshake) {
  return {
    status: 200,
    body: {
      status: 'success',
      session_id: sessionId,
      app_name: name,
      status_code: statusCode,
      ...(statusCode === 'update_required' && downloadUrl !== null && { download_url: downloadUrl }),
    },
  } as const;
}
