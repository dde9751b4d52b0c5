import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type { Developers } from '../../accounts/developers/developers.ts';
import type { SigningAlg } from '../../foundation/signing-keys/signing-key-state.ts';
import { createAdapterFactory } from './adapter.ts';
import { createDocumentFetch } from './document-fetch.ts';
import { requestContext } from './request-context.ts';
import { ACCESS_TOKEN_SECONDS } from './issuance.ts';
import { providerNow } from './provider-clock.ts';
import { devicePages, logoutPages, setPage } from './provider-pages.ts';
import {
  INTERACTION_PATH,
  ROUTES,
  type OidcProviderModule,
  type ProviderDependencies,
} from './provider-dependencies.ts';
import type { ResourceRules } from './resource-state.ts';
import { API_SCOPES, CLAIMS, CLIENT_SCOPES, knownScopes } from './scope-state.ts';
import { selfRegistrationFault } from './self-registration.ts';

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;
const SESSION_S = 8 * HOUR_S;
const REFRESH_TOKEN_S = 14 * DAY_S;
/** After this time, the user must consent again. */
const GRANT_S = 30 * DAY_S;

/** The configuration of oidc-provider. */
export function createConfiguration(
  deps: ProviderDependencies,
  providerModule: OidcProviderModule,
  resources: ResourceRules,
  idTokenAlg: SigningAlg,
): Configuration {
  const { errors } = providerModule;
  const { addresses, developers, newId, random, signingKeys } = deps;
  const issuer = addresses.issuer();
  return {
    adapter: createAdapterFactory(deps, errors),
    jwks: { keys: signingKeys.privateJwks() as NonNullable<Configuration['jwks']>['keys'] },
    routes: ROUTES,
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    clientDefaults: {
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
      id_token_signed_response_alg: idTokenAlg,
      scope: CLIENT_SCOPES.join(' '),
    },
    enabledJWA: { idTokenSigningAlgValues: [idTokenAlg] },
    responseTypes: ['code'],
    scopes: [...CLIENT_SCOPES],
    claims: { openid: [...CLAIMS.openid], profile: [...CLAIMS.profile], email: [...CLAIMS.email] },
    clockTolerance: 0,
    pkce: { required: () => true },
    clientBasedCORS: isOwnOrigin,
    cookies: {
      names: {
        session: 'latchkey_oauth_session',
        interaction: 'latchkey_interaction',
        resume: 'latchkey_resume',
      },
      long: { httpOnly: true, sameSite: 'lax', path: '/oauth' },
      short: { httpOnly: true, sameSite: 'lax' },
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      clientCredentials: { enabled: true },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        allowClient: async (_ctx, client) => selfRegistrationFault(client.metadata()) === undefined,
      },
      registration: {
        enabled: true,
        initialAccessToken: false,
        issueRegistrationAccessToken: false,
        idFactory: () => newId('cli'),
        secretFactory: () => random.bytes(32).toString('base64url'),
      },
      revocation: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
      },
      introspection: {
        enabled: true,
        allowedPolicy: introspectionPolicy(deps),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: async (_ctx, _client, oneOf) => (oneOf ? resources.preferred(oneOf) : issuer),
        useGrantedResource: async () => true,
        async getResourceServerInfo(ctx, resource, client) {
          const audience = resources.canonical(resource);
          if (audience === undefined) throw new errors.InvalidTarget();
          const actsAlone = ctx.oidc.params?.['grant_type'] === 'client_credentials';
          const scopes = knownScopes(client.scope);
          return {
            audience,
            scope: scopes.filter((scope) => !actsAlone || isApiScope(scope)).join(' '),
            accessTokenFormat: 'jwt',
            accessTokenTTL: ACCESS_TOKEN_SECONDS,
            jwt: { sign: { alg: 'ES256' } },
          };
        },
      },
      rpInitiatedLogout: logoutPages,
      deviceFlow: devicePages,
    },
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      ClientCredentials: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: 60,
      DeviceCode: 600,
      Interaction: HOUR_S,
      IdToken: HOUR_S,
      Grant: GRANT_S,
      RefreshToken: (ctx) =>
        Math.min(REFRESH_TOKEN_S, secondsUntil(ctx?.oidc.entities.Grant?.exp) ?? GRANT_S),
      Session: (_ctx, session) => secondsUntil(session.loginTs && session.loginTs + SESSION_S) ?? SESSION_S,
    },
    interactions: {
      url: (_ctx, { uid }) => `${INTERACTION_PATH}/${uid}`,
      policy: consentPolicy(providerModule),
    },
    expiresWithSession: async () => false,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    revokeGrantPolicy: () => true,

    async findAccount(_ctx, accountId) {
      const profile = await developers.profile(accountId);
      // A refresh token is not consumed by this refusal: it is valid again after the suspension.
      if (!profile || profile.suspended) return undefined;
      return { accountId, claims: async () => toClaims(profile) };
    },

    fetch: createDocumentFetch(deps),
    async renderError(ctx, out) {
      setPage(ctx, { kind: 'error', error: out.error, description: out.error_description });
    },
  };
}

type Introspection = NonNullable<NonNullable<Configuration['features']>['introspection']>;

/** Which tokens a client can introspect: its own, and those for the clients of the same developer. */
function introspectionPolicy({
  developers,
  registeredClients,
}: ProviderDependencies): NonNullable<Introspection['allowedPolicy']> {
  return async (_ctx, client, token) => {
    const { developerId, suspended } = requestContext.getStore()?.bearer ?? {};
    if (suspended) return false;
    const accountId = token.kind === 'RefreshToken' && (token as { accountId?: string }).accountId;
    if (accountId && (await developers.profile(accountId))?.suspended) return false;
    if (token.clientId === client.clientId) return true;
    if (token.kind === 'RefreshToken' || !developerId || client.clientAuthMethod === 'none') return false;
    return (await registeredClients.owned(client.clientId))?.developerId === developerId;
  };
}

/** The claims of a developer; oidc-provider selects those of the granted scopes. */
export function toClaims(profile: NonNullable<Awaited<ReturnType<Developers['profile']>>>) {
  return {
    sub: profile.developerId,
    email: profile.email,
    email_verified: profile.emailVerified,
    ...(profile.name !== null && { name: profile.name }),
  };
}

/** Only public clients run in a browser, at the origins of their redirect URIs. */
function isOwnOrigin(
  _ctx: KoaContextWithOIDC,
  origin: string,
  client: { readonly clientAuthMethod?: unknown; readonly redirectUris?: readonly string[] },
): boolean {
  if (origin === 'null' || client.clientAuthMethod !== 'none') return false;
  return (client.redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin);
}

function isApiScope(scope: string): boolean {
  return (API_SCOPES as readonly string[]).includes(scope);
}

/** An earlier consent does not count for a client that another one could impersonate (RFC 8252, 8.6; RFC 8628, 5.3). */
function consentPolicy({ interactionPolicy: { base, Check } }: OidcProviderModule) {
  const policy = base();
  const check = new Check(
    'impersonable',
    'another client could impersonate this one',
    'consent_required',
    ({ oidc }) => {
      const { client, route, result, params } = oidc;
      const isDevice = route === 'code_verification' || route === 'device_resume';
      const isWeb = String(params?.['redirect_uri']).startsWith('https:');
      const isImpersonable = isDevice || (client?.clientAuthMethod === 'none' && !isWeb);
      return isImpersonable && !result?.consent ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT;
    },
  );
  policy.get('consent')!.checks.add(check);
  return policy;
}

/** At least 1, because oidc-provider accepts no less. */
function secondsUntil(time: number | undefined): number | undefined {
  return time === undefined ? undefined : Math.max(1, time - Math.floor(providerNow() / 1000));
}
