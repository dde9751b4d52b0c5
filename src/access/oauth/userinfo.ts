import { ApiError } from '../../foundation/errors/api-error.ts';
import { toClaims } from './configuration.ts';
import type { ProviderDependencies } from './provider-dependencies.ts';
import { CLAIMS } from './scope-state.ts';

const IDENTITY_CLAIMS = Object.entries(CLAIMS);

type Dependencies = Pick<ProviderDependencies, 'accessTokens' | 'addresses' | 'bearerTokens' | 'developers'>;

/** Returns claims for access tokens of the API, which oidc-provider would refuse as tokens for a resource. */
export function createUserinfo({ accessTokens, addresses, bearerTokens, developers }: Dependencies) {
  return async function userinfo(token: string): Promise<Record<string, unknown>> {
    const bearer = await bearerTokens.authenticate(token);
    const granted = bearer && (await accessTokens.authenticate(token));
    // A token for MCP alone gives no access to claims: MCP servers may have it.
    const isForApi = granted && [addresses.issuer(), addresses.web()].includes(granted.audience);
    if (!isForApi) throw new ApiError('UNAUTHORIZED');
    if (granted.suspended) throw new ApiError('ACCOUNT_SUSPENDED');
    const { developerId, grantId, scopes } = granted;
    if (!scopes.includes('openid') || developerId === null || grantId === null) {
      throw new ApiError('INSUFFICIENT_SCOPE', { members: { scope: 'openid' } });
    }
    const profile = await developers.profile(developerId);
    if (!profile) throw new ApiError('UNAUTHORIZED');
    const names: readonly string[] = IDENTITY_CLAIMS.flatMap(([scope, claims]) =>
      scopes.includes(scope) ? claims : [],
    );
    return Object.fromEntries(Object.entries(toClaims(profile)).filter(([name]) => names.includes(name)));
  };
}
