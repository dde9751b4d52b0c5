import type { components } from '../../generated/types.ts';
import type { PreparedSession } from '../../src/sessions/sessions.ts';
import type { Signer } from '../../src/signatures/signatures.ts';

/** The v2 login result, signed. */
export function toSignedSession(
  session: PreparedSession,
  signer: Signer,
  nonce: string,
): components['schemas']['SignedSession'] {
  const result = {
    status: 'success',
    token: session.token,
    expires_at: session.expiresAt.toISOString(),
  } as const;
  return signer.sign(result, nonce);
}
