import type { components } from '../../generated/types.ts';
import type { SigningKey } from '../../src/foundation/signing-keys/signing-keys.ts';

/** A signing key as the contract shows it. */
export function toSigningKey(key: SigningKey): components['schemas']['SigningKey'] {
  return {
    key_id: key.keyId,
    alg: key.alg,
    state: key.state,
    created_at: key.createdAt.toISOString(),
    active_from: key.activeFrom.toISOString(),
  };
}
