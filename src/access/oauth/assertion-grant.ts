import type Provider from 'oidc-provider';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { requestContext } from './request-context.ts';
import { ACCESS_TOKEN_SECONDS } from './issuance.ts';
import type { OidcProviderModule, ProviderDependencies } from './provider-dependencies.ts';
import type { ResourceRules } from './resource-state.ts';
import { knownScopes } from './scope-state.ts';
import { assertNotSuspended } from './suspended-accounts.ts';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

interface GrantContext {
  readonly client: { readonly clientId: string; readonly scope?: string };
  readonly params: {
    readonly assertion?: unknown;
    readonly scope?: string;
    readonly resource?: string | string[];
  };
}

/** Adds the grant type of ID-JAGs (RFC 7523, draft-ietf-oauth-identity-assertion-authz-grant) to the token endpoint. */
export function registerAssertionGrant(
  provider: Provider,
  {
    addresses,
    agents,
    developers,
    issuance,
  }: Pick<ProviderDependencies, 'addresses' | 'agents' | 'developers' | 'issuance'>,
  { errors }: OidcProviderModule,
  resources: ResourceRules,
): void {
  provider.registerGrantType(
    JWT_BEARER,
    async (ctx) => {
      const { params, client } = ctx.oidc as unknown as GrantContext;
      const { assertion, scope, resource } = params;
      if (typeof assertion !== 'string')
        throw new errors.InvalidRequest("missing required parameter 'assertion'");
      const audience = resources.canonical(resources.preferred(resource ?? addresses.issuer()));
      if (audience === undefined) throw new errors.InvalidTarget();
      const registered = knownScopes(client.scope);
      const address = requestContext.getStore()!.address;
      const agent = await agents.exchangeAssertion(assertion, client.clientId, { address }).catch(refusal);
      await assertNotSuspended(developers, errors, agent.developerId);
      const allowed = agent.scopes.filter((each) => (registered as readonly string[]).includes(each));
      const requested = scope?.split(' ');
      const scopes = requested ? allowed.filter((each) => requested.includes(each)) : allowed;
      const token = await issuance.issue({
        subject: agent.developerId,
        clientId: client.clientId,
        developerId: agent.developerId,
        agentId: agent.agentId,
        grantId: null,
        scopes,
        audience,
      });
      ctx.body = {
        access_token: token,
        expires_in: ACCESS_TOKEN_SECONDS,
        token_type: 'Bearer',
        scope: scopes.join(' '),
      };
    },
    ['assertion', 'scope', 'resource'],
    ['resource'],
  );

  /** Converts a refused assertion to the error of the token endpoint (RFC 7521, section 4.1.1). */
  function refusal(error: unknown): never {
    if (!(error instanceof ApiError) || error.status >= 500 || error.status === 429) throw error;
    const refused = new errors.InvalidGrant(error.code);
    refused.error_description = error.detail;
    throw refused;
  }
}
