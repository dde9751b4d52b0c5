import type { components } from '../../generated/types.ts';
import type { ApplicationKey } from '../../src/accounts/application-keys/application-keys.ts';

/** A signing key of an application as the contract shows it. */
export function toSigningKey(key: ApplicationKey): components['schemas']['ApplicationSigningKey'] {
  return {
    kid: key.kid,
    alg: 'EdDSA',
    public_key: key.publicKey.toString('base64url'),
    state: key.state,
    created_at: key.createdAt.toISOString(),
    signing_since: key.signingSince?.toISOString() ?? null,
    retired_at: key.retiredAt?.toISOString() ?? null,
  };
}

/** All signing keys of an application. */
export function toSigningKeys(keys: readonly ApplicationKey[]) {
  return { status: 200, body: { status: 'success', data: keys.map(toSigningKey) } } as const;
}
