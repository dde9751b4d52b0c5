import type { EventEmitter } from 'node:events';
import type Provider from 'oidc-provider';
import type {
  Configuration,
  errors as libraryErrors,
  interactionPolicy as libraryPolicy,
  KoaContextWithOIDC,
} from 'oidc-provider';
import type { AccessTokens } from '../access-tokens/access-tokens.ts';
import type { Addresses } from '../addresses/addresses.ts';
import type { Agents } from '../agents/agents.ts';
import type { Audit } from '../audit/audit.ts';
import type { BearerTokens } from '../bearer-tokens/bearer-tokens.ts';
import type { Developers } from '../developers/developers.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Limits } from '../limits/limits.ts';
import { addressBlock } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { OutboundHttp } from '../platform/outbound-http/index.ts';
import type { Random } from '../platform/random.ts';
import type { SigningAlg } from '../signing-keys/signing-key-state.ts';
import type { SigningKeys } from '../signing-keys/signing-keys.ts';
import type { Knex } from 'knex';
import { createAdapterFactory } from './adapter.ts';
import { isLoopbackOf, selfRegistrationFault } from './client-state.ts';
import { countOne } from './counting.ts';
import { exchanges } from './exchange.ts';
import { ACCESS_TOKEN_SECONDS, type Issuance } from './issuance.ts';
import { libraryNow } from './library-clock.ts';
import type { OAuthPage } from './page.ts';
import type { Records } from './records.ts';
import type { RegisteredClients } from './registered-clients.ts';
import { resourceRules } from './resource-state.ts';
import { API_SCOPES, CLIENT_SCOPES, defaultScopes, knownScopes } from './scope-state.ts';

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;
const SESSION_S = 8 * HOUR_S;
const REFRESH_TOKEN_S = 14 * DAY_S;
/** What was consented to is asked for again after so long. */
const GRANT_S = 30 * DAY_S;
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const FETCHED_WITHIN_MS = 2500;

/** Where the authorization server is, below the issuer. */
export const ROUTES = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
  introspection: '/oauth/introspect',
  userinfo: '/oauth/userinfo',
  registration: '/oauth/register',
  code_verification: '/oauth/device',
  device_authorization: '/oauth/device/authorize',
  end_session: '/oauth/logout',
  jwks: '/.well-known/jwks.json',
} as const;
const INTERACTION_PATH = '/oauth/interaction';

export interface ProviderDependencies {
  readonly knex: Knex;
  readonly records: Records;
  readonly registeredClients: RegisteredClients;
  readonly issuance: Issuance;
  readonly accessTokens: AccessTokens;
  readonly agents: Pick<Agents, 'exchangeAssertion'>;
  readonly bearerTokens: BearerTokens;
  readonly developers: Pick<Developers, 'profile' | 'verifyPassword'>;
  readonly signingKeys: SigningKeys;
  readonly addresses: Addresses;
  readonly limits: Limits;
  readonly outbound: Pick<OutboundHttp, 'get'>;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
}

export interface Library {
  readonly Provider: new (issuer: string, configuration: Configuration) => Provider;
  readonly errors: typeof libraryErrors;
  readonly interactionPolicy: typeof libraryPolicy;
}

/**
 * Sets the library up over our tables: what it issues, whom it asks and what it shows are ours.
 * @param idTokenAlg of ID tokens: there must be a key of it
 */
export function createProvider(
  deps: ProviderDependencies,
  library: Library,
  idTokenAlg: SigningAlg = 'RS256',
): Provider {
  const { Provider, errors } = library;
  const { addresses, agents, developers, issuance, limits, registeredClients, signingKeys } = deps;
  const { newId, outbound, random } = deps;
  const issuer = addresses.issuer();
  const resources = resourceRules([issuer, addresses.web(), addresses.mcp()]);

  const configuration: Configuration = {
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
    claims: { openid: ['sub'], email: ['email', 'email_verified', 'name'] },
    clockTolerance: 0,
    pkce: { required: () => true },
    clientBasedCORS: isOwnOrigin,
    cookies: {
      names: { session: 'latchkey_session', interaction: 'latchkey_interaction', resume: 'latchkey_resume' },
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
        async allowedPolicy(_ctx, client, token) {
          if (token.clientId === client.clientId) return true;
          const developerId = exchanges.getStore()?.bearer?.developerId;
          if (token.kind === 'RefreshToken' || !developerId || client.clientAuthMethod === 'none')
            return false;
          return (await registeredClients.owned(client.clientId))?.developerId === developerId;
        },
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
      rpInitiatedLogout: {
        enabled: true,
        async logoutSource(ctx) {
          const { secret, postLogoutRedirectUri } = ctx.oidc.session!.state as {
            readonly secret: string;
            readonly postLogoutRedirectUri?: string;
          };
          const clientName = ctx.oidc.client && nameOf(ctx.oidc.client);
          show(ctx, { kind: 'logout', xsrf: secret, clientName, redirectUri: postLogoutRedirectUri });
        },
        async postLogoutSuccessSource(ctx) {
          show(ctx, { kind: 'logged-out' });
        },
      },
      deviceFlow: {
        enabled: true,
        charset: 'base-20',
        mask: '****-****',
        deviceInfo: (ctx) => ({ address: exchanges.getStore()?.address, agent: ctx.get('user-agent') }),
        async userCodeInputSource(ctx, _form, _out, error) {
          const { name, userCode } = (error ?? {}) as { readonly name?: string; readonly userCode?: string };
          if (name === 'AbortedError') return show(ctx, { kind: 'device-over', reason: 'aborted' });
          // Without a session of its own the form that would be shown again could not be sent.
          if (error && ctx.oidc.session?.exp === undefined) {
            return show(ctx, { kind: 'device-over', reason: 'failed' });
          }
          show(ctx, {
            kind: 'device-code',
            xsrf: xsrfOf(ctx),
            userCode: userCode ?? exchanges.getStore()?.userCode ?? '',
            alert: error && deviceAlert(name, userCode),
          });
        },
        async userCodeConfirmSource(ctx, _form, client, deviceInfo, shownCode) {
          show(ctx, {
            kind: 'device-confirm',
            xsrf: xsrfOf(ctx),
            userCode: String(ctx.oidc.params?.['user_code']),
            shownCode,
            clientName: nameOf(client),
            address: (deviceInfo as { readonly address?: string }).address,
          });
        },
        async successSource(ctx) {
          show(ctx, { kind: 'device-done', clientName: nameOf(ctx.oidc.client!) });
        },
      },
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
    interactions: { url: (_ctx, { uid }) => `${INTERACTION_PATH}/${uid}`, policy: askingPolicy(library) },
    expiresWithSession: async () => false,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    revokeGrantPolicy: () => true,

    async findAccount(_ctx, accountId) {
      const profile = await developers.profile(accountId);
      if (!profile) return undefined;
      return { accountId, claims: async () => toClaims(profile) };
    },

    // Documents about clients are at addresses that somebody else has chosen.
    async fetch(url, options) {
      await countOne(limits, ['oauth', 'document'], exchanges.getStore()?.address ?? '').catch(
        (error: unknown) => {
          // Otherwise the library would take it for the fault of the document.
          fail(error);
          throw error;
        },
      );
      const headers = Object.fromEntries(new Headers(options?.headers as Record<string, string>));
      const signal = options?.signal ?? AbortSignal.timeout(FETCHED_WITHIN_MS);
      const {
        status,
        headers: answered,
        bytes,
      } = await outbound.get(String(url), { headers, signal, maxBytes: 16_384 });
      const kept = ['cache-control', 'expires'].flatMap((name) => {
        const value = answered[name];
        return typeof value === 'string' ? [[name, value] as [string, string]] : [];
      });
      return new Response(new Uint8Array(bytes), { status, headers: kept });
    },

    async renderError(ctx, out) {
      show(ctx, { kind: 'error', error: out.error, description: out.error_description });
    },
  };

  const provider = new Provider(issuer, configuration);
  provider.proxy = true;
  // Both are ours to log; without a listener they would go to the console.
  provider.on('server_error', (_ctx, error) => fail(error));
  (provider as EventEmitter).on('error', fail);

  for (const model of [provider.AccessToken, provider.ClientCredentials]) {
    model.prototype.save = async function save(this: UnsavedToken) {
      const { clientId, accountId, grantId, aud, scope, expiration } = this;
      this.jti ??= random.bytes(16).toString('base64url');
      this.exp ??= Math.floor(libraryNow() / 1000) + expiration;
      return issuance.issue({
        subject: accountId ?? clientId,
        clientId,
        developerId: accountId ?? (await registeredClients.owned(clientId))?.developerId ?? null,
        agentId: null,
        grantId: grantId ?? null,
        scopes: scope?.split(' ') ?? [],
        audience: aud,
      });
    };
  }

  // The library saves one again that it has touched while it told of an error, also where there is nothing to save.
  const { persist } = provider.Session.prototype;
  provider.Session.prototype.persist = async function persistKnown(this: { exp?: number }) {
    return this.exp === undefined ? '' : persist.call(this as never);
  };

  // The library lets only those do so that call themselves native, which hardly a program does that registers itself.
  const { redirectUriAllowed } = provider.Client.prototype;
  provider.Client.prototype.redirectUriAllowed = function isAllowed(uri) {
    if (redirectUriAllowed.call(this, uri)) return true;
    return this.clientAuthMethod === 'none' && isLoopbackOf(this.redirectUris ?? [], uri);
  };

  const { compareClientSecret } = provider.Client.prototype;
  provider.Client.prototype.compareClientSecret = async function compare(this: { clientId: string }, secret) {
    const account = ['oauth_client', this.clientId, addressBlock(exchanges.getStore()?.address ?? '')];
    const isRight = await compareClientSecret.call(this as never, secret);
    if (isRight) await limits.assertMayTry([account]);
    else await limits.countFailure([account]);
    return isRight;
  };

  // The first moment at which both the client and what it asks for are known.
  const prototype = (provider as unknown as { OIDCContext: { prototype: OidcContext } }).OIDCContext
    .prototype;
  const { entity } = prototype;
  prototype.entity = function known(key, value) {
    entity.call(this, key, value);
    if (key === 'Client' && this.params) prepare(this, this.params, (value as { scope?: string })?.scope);
  };

  function prepare(
    { route }: OidcContext,
    params: Record<string, unknown>,
    registered: string | undefined,
  ): void {
    const { token, resource } = params;
    if (route === 'revocation' || route === 'introspection') {
      const exchange = exchanges.getStore();
      // The library refuses what is a JWT before it looks it up.
      if (!exchange || typeof token !== 'string' || !token.includes('.')) return;
      const handle = `presented:${random.bytes(16).toString('base64url')}`;
      exchange.presented = { handle, token };
      params['token'] = handle;
      return;
    }
    if (typeof resource === 'string') params['resource'] = resources.canonical(resource) ?? resource;
    if (Array.isArray(resource)) {
      const each = resource.map((one: string) => resources.canonical(one) ?? one);
      params['resource'] = [...new Set(each)];
    }
    const asks = route !== 'token' || params['grant_type'] === 'client_credentials';
    if (asks && params['scope'] === undefined)
      params['scope'] = defaultScopes(registered).join(' ') || undefined;
  }

  provider.registerGrantType(
    JWT_BEARER,
    async (ctx) => {
      const { params, client } = ctx.oidc as unknown as GrantContext;
      const { assertion, scope, resource } = params;
      if (typeof assertion !== 'string')
        throw new errors.InvalidRequest("missing required parameter 'assertion'");
      const audience = resources.canonical(resources.preferred(resource ?? issuer));
      if (audience === undefined) throw new errors.InvalidTarget();
      const registered = knownScopes(client.scope);
      const address = exchanges.getStore()!.address;
      const agent = await agents.exchangeAssertion(assertion, client.clientId, { address }).catch(refusal);
      const mayHave = agent.scopes.filter((each) => (registered as readonly string[]).includes(each));
      const wanted = scope?.split(' ');
      const scopes = wanted ? mayHave.filter((each) => wanted.includes(each)) : mayHave;
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

  /** What is wrong with an assertion, as the token endpoint says it (RFC 7521, section 4.1.1). */
  function refusal(error: unknown): never {
    if (!(error instanceof ApiError) || error.status >= 500 || error.status === 429) throw error;
    const refused = new errors.InvalidGrant(error.code);
    refused.error_description = error.detail;
    throw refused;
  }

  return provider;
}

/** The claims of a developer; the library picks those of the granted scopes. */
export function toClaims(profile: NonNullable<Awaited<ReturnType<Developers['profile']>>>) {
  return {
    sub: profile.developerId,
    email: profile.email,
    email_verified: profile.emailVerified,
    ...(profile.name !== null && { name: profile.name }),
  };
}

interface OidcContext {
  readonly route: string;
  readonly params?: Record<string, unknown>;
  entity(key: string, value: unknown): void;
}

interface GrantContext {
  readonly client: { readonly clientId: string; readonly scope?: string };
  readonly params: {
    readonly assertion?: unknown;
    readonly scope?: string;
    readonly resource?: string | string[];
  };
}

/** An access token of the library's, before it has a value. */
interface UnsavedToken {
  jti?: string | undefined;
  exp?: number | undefined;
  readonly clientId: string;
  readonly accountId?: string;
  readonly grantId?: string;
  readonly aud: string;
  readonly scope?: string;
  readonly expiration: number;
}

function show(ctx: KoaContextWithOIDC, page: OAuthPage): void {
  const exchange = exchanges.getStore();
  if (exchange) exchange.page = page;
  // Otherwise the status would be 404: the page itself is written at the end.
  ctx.body = '';
}

function fail(error: unknown): void {
  const exchange = exchanges.getStore();
  if (exchange) exchange.failure = error;
}

function nameOf(client: { readonly clientName?: unknown; readonly clientId: string }): string {
  return String(client.clientName ?? client.clientId);
}

function xsrfOf(ctx: KoaContextWithOIDC): string {
  return String((ctx.oidc.session?.state as { readonly secret?: string } | undefined)?.secret);
}

function deviceAlert(name: string | undefined, userCode: string | undefined): string {
  if (name === 'NoCodeError') return 'Please enter the code.';
  if (name === 'ExpiredError') return 'This code has expired. Ask the device for another one.';
  if (name === 'AlreadyUsedError') return 'This code was used already. Ask the device for another one.';
  return userCode === undefined
    ? 'This did not work. Please enter the code again.'
    : 'There is no such code. Please check it.';
}

/** Programs in a browser are those of public clients, at the addresses that they are sent back to. */
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

/** Whom anybody could play to be is not believed because of an earlier consent (RFC 8252, section 8.6; RFC 8628, section 5.3). */
function askingPolicy({ interactionPolicy: { base, Check } }: Library) {
  const policy = base();
  const check = new Check(
    'impersonable',
    'the client could be another one',
    'consent_required',
    ({ oidc }) => {
      const { client, route, result, params } = oidc;
      const isDevice = route === 'code_verification' || route === 'device_resume';
      const isAtWeb = String(params?.['redirect_uri']).startsWith('https:');
      const isImpersonable = isDevice || (client?.clientAuthMethod === 'none' && !isAtWeb);
      return isImpersonable && !result?.consent ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT;
    },
  );
  policy.get('consent')!.checks.add(check);
  return policy;
}

/** At least one, because the library takes no other. */
function secondsUntil(moment: number | undefined): number | undefined {
  return moment === undefined ? undefined : Math.max(1, moment - Math.floor(libraryNow() / 1000));
}
