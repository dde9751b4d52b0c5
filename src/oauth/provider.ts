import type { EventEmitter } from 'node:events';
import type Provider from 'oidc-provider';
import type { SigningAlg } from '../signing-keys/signing-key-state.ts';
import { registerAssertionGrant } from './assertion-grant.ts';
import { createConfiguration } from './configuration.ts';
import { fail, noteOutcome } from './library-pages.ts';
import { joinSeams } from './library-seams.ts';
import type { Library, ProviderDependencies } from './library.ts';
import { resourceRules } from './resource-state.ts';

/**
 * Sets the library up over our tables: what it issues, whom it asks and what it shows are ours.
 * @param idTokenAlg of ID tokens: there must be a key of it
 */
export function createProvider(
  deps: ProviderDependencies,
  library: Library,
  idTokenAlg: SigningAlg = 'RS256',
): Provider {
  const { addresses } = deps;
  const issuer = addresses.issuer();
  const resources = resourceRules([issuer, addresses.web(), addresses.mcp()]);
  const provider = new library.Provider(issuer, createConfiguration(deps, library, resources, idTokenAlg));
  provider.proxy = true;
  // Both are ours to log; without a listener they would go to the console.
  provider.on('server_error', (_ctx, error) => fail(error));
  (provider as EventEmitter).on('error', fail);
  provider.on('authorization.success', () => noteOutcome({ hasSucceeded: true }));
  provider.on('authorization.error', (_ctx, { error, error_description: description }) =>
    noteOutcome({ refusal: { error, description } }),
  );
  joinSeams(provider, deps, resources);
  registerAssertionGrant(provider, deps, library, resources);
  return provider;
}
