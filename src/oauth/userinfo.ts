import { ApiError } from '../errors/api-error.ts';
import { toClaims } from './configuration.ts';
import type { ProviderDependencies } from './library.ts';
import { CLAIMS } from './scope-state.ts';

const IDENTITY_CLAIMS = Object.entries(CLAIMS);

type Dependencies = Pick<ProviderDependencies, 'accessTokens' | 'addresses' | 'bearerTokens' | 'developers'>;

/** Tells claims for our access tokens, which the library knows as those of a resource and therefore would refuse. */
export function createUserinfo({ accessTokens, addresses, bearerTokens, developers }: Dependencies) {
  return async function userinfo(token: string): Promise<Record<string, unknown>> {
    const bearer = await bearerTokens.authenticate(token);
    const granted = bearer && (await accessTokens.authenticate(token));
    // Claims are of the API's resource: a token for MCP alone may be in the hands of whoever is for MCP alone.
    const isForUs = granted && [addresses.issuer(), addresses.web()].includes(granted.audience);
    if (!isForUs) throw new ApiError('UNAUTHORIZED');
    const { developerId, grantId, scopes } = granted;
    if (!scopes.includes('openid') || developerId === null || grantId === null) {
      throw new ApiError('INSUFFICIENT_SCOPE', { members: { scope: 'openid' } });
    }
    const profile = await developers.profile(developerId);
    if (!profile) throw new ApiError('UNAUTHORIZED');
    const told: readonly string[] = IDENTITY_CLAIMS.flatMap(([scope, names]) =>
      scopes.includes(scope) ? names : [],
    );
    return Object.fromEntries(Object.entries(toClaims(profile)).filter(([name]) => told.includes(name)));
  };
}
