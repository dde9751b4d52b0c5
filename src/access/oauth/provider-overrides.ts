import type Provider from 'oidc-provider';
import { addressBlock } from '../../platform/address.ts';
import { redirectUriFault } from '../../platform/redirect-uri-state.ts';
import { isLoopbackOf } from './client-state.ts';
import { requestContext } from './request-context.ts';
import { providerNow } from './provider-clock.ts';
import { assertNotSuspended } from './suspended-accounts.ts';
import type { OidcProviderModule, ProviderDependencies } from './provider-dependencies.ts';
import type { ResourceRules } from './resource-state.ts';
import { defaultScopes } from './scope-state.ts';

interface OidcContext {
  readonly route: string;
  readonly params?: Record<string, unknown>;
  entity(key: string, value: unknown): void;
}

/** An access token of oidc-provider before it has a value. */
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

/**
 * Overrides what oidc-provider has no setting for: access tokens are issued by this service, attempts to guess client
 * secrets are limited like those for passwords, and missing parameters of requests get their defaults.
 */
export function applyProviderOverrides(
  provider: Provider,
  { developers, issuance, limits, random, registeredClients }: ProviderDependencies,
  { errors }: OidcProviderModule,
  resources: ResourceRules,
): void {
  for (const model of [provider.AccessToken, provider.ClientCredentials]) {
    model.prototype.save = async function save(this: UnsavedToken) {
      const { clientId, accountId, grantId, aud, scope, expiration } = this;
      const developerId = accountId ?? (await registeredClients.owned(clientId))?.developerId ?? null;
      // The account of a user was checked when it was found.
      if (accountId === undefined) await assertNotSuspended(developers, errors, developerId);
      this.jti ??= random.bytes(16).toString('base64url');
      this.exp ??= Math.floor(providerNow() / 1000) + expiration;
      return issuance.issue({
        subject: accountId ?? clientId,
        clientId,
        developerId,
        agentId: null,
        grantId: grantId ?? null,
        scopes: scope?.split(' ') ?? [],
        audience: aud,
      });
    };
  }

  // oidc-provider saves the session after an error even when there is no session to save.
  const { persist } = provider.Session.prototype;
  provider.Session.prototype.persist = async function persistExisting(this: { exp?: number }) {
    return this.exp === undefined ? '' : persist.call(this as never);
  };

  // oidc-provider allows any port of a loopback URI to native clients only, but few self-registered ones say they are.
  const { redirectUriAllowed, postLogoutRedirectUriAllowed } = provider.Client.prototype;
  provider.Client.prototype.redirectUriAllowed = function isAllowed(uri) {
    // The client may have been registered before the rule existed.
    if (redirectUriFault(uri) !== undefined) return false;
    if (redirectUriAllowed.call(this, uri)) return true;
    return this.clientAuthMethod === 'none' && isLoopbackOf(this.redirectUris ?? [], uri);
  };

  provider.Client.prototype.postLogoutRedirectUriAllowed = function isAllowed(uri) {
    return redirectUriFault(uri) === undefined && postLogoutRedirectUriAllowed.call(this, uri);
  };

  const { compareClientSecret } = provider.Client.prototype;
  provider.Client.prototype.compareClientSecret = async function compare(this: { clientId: string }, secret) {
    const account = ['oauth_client', this.clientId, addressBlock(requestContext.getStore()?.address ?? '')];
    const isCorrect = await compareClientSecret.call(this as never, secret);
    // A valid secret is accepted despite failures from the same address: it is too long to be guessed.
    if (!isCorrect) await limits.countFailure([account]);
    return isCorrect;
  };

  // The first point at which both the client and its parameters are known.
  const prototype = (provider as unknown as { OIDCContext: { prototype: OidcContext } }).OIDCContext
    .prototype;
  const { entity } = prototype;
  prototype.entity = function entityWithDefaults(key, value) {
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
      const context = requestContext.getStore();
      // oidc-provider refuses a JWT without looking it up.
      if (!context || typeof token !== 'string' || !token.includes('.')) return;
      const handle = `presented:${random.bytes(16).toString('base64url')}`;
      context.presented = { handle, token };
      params['token'] = handle;
      return;
    }
    if (typeof resource === 'string') params['resource'] = resources.canonical(resource) ?? resource;
    if (Array.isArray(resource)) {
      const each = resource.map((one: string) => resources.canonical(one) ?? one);
      params['resource'] = [...new Set(each)];
    }
    const takesScope = route !== 'token' || params['grant_type'] === 'client_credentials';
    if (takesScope && params['scope'] === undefined)
      params['scope'] = defaultScopes(registered).join(' ') || undefined;
  }
}
