import type Provider from 'oidc-provider';
import { addressBlock } from '../platform/address.ts';
import { redirectUriFault } from '../platform/redirect-uri-state.ts';
import { isLoopbackOf } from './client-state.ts';
import { exchanges } from './exchange.ts';
import { libraryNow } from './library-clock.ts';
import type { ProviderDependencies } from './library.ts';
import type { ResourceRules } from './resource-state.ts';
import { defaultScopes } from './scope-state.ts';

interface OidcContext {
  readonly route: string;
  readonly params?: Record<string, unknown>;
  entity(key: string, value: unknown): void;
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

/**
 * What the library has no setting for: its access tokens are issued and found as ours are, its secrets are guessed no more often
 * than passwords, and what a request leaves out is filled in.
 */
export function joinSeams(
  provider: Provider,
  { issuance, limits, random, registeredClients }: ProviderDependencies,
  resources: ResourceRules,
): void {
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
  const { redirectUriAllowed, postLogoutRedirectUriAllowed } = provider.Client.prototype;
  provider.Client.prototype.redirectUriAllowed = function isAllowed(uri) {
    // A client may have been registered before a rule was made.
    if (redirectUriFault(uri) !== undefined) return false;
    if (redirectUriAllowed.call(this, uri)) return true;
    return this.clientAuthMethod === 'none' && isLoopbackOf(this.redirectUris ?? [], uri);
  };

  provider.Client.prototype.postLogoutRedirectUriAllowed = function isAllowed(uri) {
    return redirectUriFault(uri) === undefined && postLogoutRedirectUriAllowed.call(this, uri);
  };

  const { compareClientSecret } = provider.Client.prototype;
  provider.Client.prototype.compareClientSecret = async function compare(this: { clientId: string }, secret) {
    const account = ['oauth_client', this.clientId, addressBlock(exchanges.getStore()?.address ?? '')];
    const isRight = await compareClientSecret.call(this as never, secret);
    // A right one is let in whatever others behind its address have failed: it has too many bits to be guessed.
    if (!isRight) await limits.countFailure([account]);
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
}
