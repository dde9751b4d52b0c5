import type { EventEmitter } from 'node:events';
import type Provider from 'oidc-provider';
import type { SigningAlg } from '../../foundation/signing-keys/signing-key-state.ts';
import { registerAssertionGrant } from './assertion-grant.ts';
import { createConfiguration } from './configuration.ts';
import { setFailure, setOutcome } from './provider-pages.ts';
import { applyProviderOverrides } from './provider-overrides.ts';
import type { OidcProviderModule, ProviderDependencies } from './provider-dependencies.ts';
import { resourceRules } from './resource-state.ts';

/**
 * Sets up oidc-provider with the tables, tokens, users and pages of this service.
 * @param idTokenAlg the algorithm of ID tokens, for which a signing key must exist
 */
export function createProvider(
  deps: ProviderDependencies,
  providerModule: OidcProviderModule,
  idTokenAlg: SigningAlg = 'RS256',
): Provider {
  const { addresses } = deps;
  const issuer = addresses.issuer();
  const resources = resourceRules([issuer, addresses.web(), addresses.mcp()]);
  const provider = new providerModule.Provider(
    issuer,
    createConfiguration(deps, providerModule, resources, idTokenAlg),
  );
  provider.proxy = true;
  // Without listeners oidc-provider would write both to the console.
  provider.on('server_error', (_ctx, error) => setFailure(error));
  (provider as EventEmitter).on('error', setFailure);
  provider.on('authorization.success', () => setOutcome({ hasSucceeded: true }));
  provider.on('authorization.error', (_ctx, { error, error_description: description }) =>
    setOutcome({ refusal: { error, description } }),
  );
  applyProviderOverrides(provider, deps, providerModule, resources);
  registerAssertionGrant(provider, deps, providerModule, resources);
  return provider;
}
