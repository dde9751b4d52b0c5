import { ApiError } from '../../foundation/errors/api-error.ts';

export type CredentialType = 'bearer_token' | 'jwt' | 'sandbox_token' | 'ephemeral_key';

/** The types that an agent with an asserted identity can request; the first one is the default. */
export const ASSERTION_CREDENTIALS = ['bearer_token', 'jwt'] as const satisfies CredentialType[];
/** The types that an anonymous agent can request; the first one is the default. */
export const ANONYMOUS_CREDENTIALS = ['ephemeral_key', 'sandbox_token'] as const satisfies CredentialType[];

/**
 * The credential type that an agent gets.
 * @returns the first one offered when the agent requests none
 * @throws ApiError UNSUPPORTED_CREDENTIAL_TYPE
 */
export function requestedType<Type extends CredentialType>(
  requested: string | undefined,
  offered: readonly [Type, ...Type[]],
): Type {
  if (requested === undefined) return offered[0];
  const found = offered.find((type) => type === requested);
  if (found) return found;
  throw new ApiError('UNSUPPORTED_CREDENTIAL_TYPE', {
    detail: `requested_credential_type must be ${offered.join(' or ')}.`,
    members: { error: 'unsupported_credential_type' },
  });
}
