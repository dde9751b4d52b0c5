import { ApiError } from '../errors/api-error.ts';
import type { CredentialType } from './agents.ts';

/**
 * What an agent gets of what there is.
 * @returns the first one where it asks for nothing
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
