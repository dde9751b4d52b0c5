import type Provider from 'oidc-provider';
import type {
  Configuration,
  errors as libraryErrors,
  interactionPolicy as libraryPolicy,
} from 'oidc-provider';
import type { Knex } from 'knex';
import type { AccessTokens } from '../access-tokens/access-tokens.ts';
import type { Addresses } from '../../foundation/addresses/addresses.ts';
import type { Agents } from '../agents/agents.ts';
import type { Audit } from '../../foundation/audit/audit.ts';
import type { BearerTokens } from '../bearer-tokens/bearer-tokens.ts';
import type { Developers } from '../../accounts/developers/developers.ts';
import type { Limits } from '../../foundation/limits/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/index.ts';
import type { NewId } from '../../platform/ids.ts';
import type { OutboundHttp } from '../../platform/outbound-http/index.ts';
import type { Random } from '../../platform/random.ts';
import type { SigningKeys } from '../../foundation/signing-keys/signing-keys.ts';
import type { Issuance } from './issuance.ts';
import type { Records } from './records.ts';
import type { RegisteredClients } from './registered-clients.ts';

/** What oidc-provider is built on. */
export interface ProviderDependencies {
  readonly knex: Knex;
  readonly inOneTransaction: Database['inOneTransaction'];
  readonly records: Records;
  readonly registeredClients: RegisteredClients;
  readonly issuance: Issuance;
  readonly accessTokens: AccessTokens;
  readonly agents: Pick<Agents, 'exchangeAssertion'>;
  readonly bearerTokens: BearerTokens;
  readonly developers: Pick<Developers, 'profile' | 'verifyPassword' | 'isSignedIn' | 'lockSessionForShare'>;
  readonly signingKeys: SigningKeys;
  readonly addresses: Addresses;
  readonly limits: Limits;
  readonly outbound: Pick<OutboundHttp, 'get'>;
  /** The ids of the clients that the operator trusts. */
  readonly trustedClients: readonly string[];
  readonly audit: Audit;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
}

/** The exports of the package oidc-provider that are used. */
export interface OidcProviderModule {
  readonly Provider: new (issuer: string, configuration: Configuration) => Provider;
  readonly errors: typeof libraryErrors;
  readonly interactionPolicy: typeof libraryPolicy;
}

/** The paths of the authorization server, relative to the issuer. */
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
export const INTERACTION_PATH = '/oauth/interaction';
