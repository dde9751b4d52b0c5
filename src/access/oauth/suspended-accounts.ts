import type { Developers } from '../../accounts/developers/developers.ts';
import type { OidcProviderModule } from './provider-dependencies.ts';

/** Refuses to issue a token for a suspended developer. */
export async function assertNotSuspended(
  developers: Pick<Developers, 'profile'>,
  errors: OidcProviderModule['errors'],
  developerId: string | null,
): Promise<void> {
  if (developerId === null || !(await developers.profile(developerId))?.suspended) return;
  const refused = new errors.InvalidGrant('account suspended');
  refused.error_description = 'The account is suspended.';
  throw refused;
}
