import type { Knex } from 'knex';
import type { AccessTokens } from '../access-tokens/access-tokens.ts';
import type { ApiTokens } from '../../accounts/api-tokens/api-tokens.ts';
import type { Addresses } from '../../foundation/addresses/addresses.ts';
import type { Audit } from '../../foundation/audit/audit.ts';
import type { Developers, Scope } from '../../accounts/developers/developers.ts';
import type { Keys } from '../../foundation/installation-keys/installation-keys.ts';
import type { Limits } from '../../foundation/limits/limits.ts';
import type { Mails } from '../../messaging/mails/mails.ts';
import type { Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Logger } from '../../platform/logger.ts';
import type { OutboundHttp } from '../../platform/outbound-http/index.ts';
import type { Random } from '../../platform/random.ts';
import type { SecurityEvents } from '../security-events/security-events.ts';
import type { Tokens } from '../../foundation/tokens/tokens.ts';
import { createAdmission } from './admission.ts';
import { createAssertions } from './assertions.ts';
import type { ClaimRequest, CompletedClaim, InitiatedClaim } from './claims/claim.ts';
import { createClaims } from './claims/claims.ts';
import { createClaimPage, type ClaimPage } from './claims/confirmation-page.ts';
import { createClaimMails } from './claims/mails.ts';
import { createClaimOpening } from './claims/opening.ts';
import { clearExpired } from './cleanup.ts';
import { createCredentials } from './credentials.ts';
import { createDirectory, type AgentDirectory } from './directory.ts';
import { createIssuerEvents, type IssuerEvents } from './issuer-events.ts';
import type { TrustedIssuer } from './issuer-state.ts';
import { createIssuers } from './issuers.ts';
import { createRegistration, type Registration, type RegistrationRequest } from './registration.ts';
import { createRevocation, type AgentRevocation } from './revocation.ts';
import { createSandboxAgents } from './sandbox-agents.ts';

export { POST_CLAIM_SCOPES, PRE_CLAIM_SCOPES } from './agent-scopes.ts';
export type { Agent, AgentIdentity, RegistrationType } from './agent.ts';
export type { ClaimHandle, ClaimRequest, CompletedClaim, InitiatedClaim } from './claims/claim.ts';
export type { ClaimPage, ClaimView } from './claims/confirmation-page.ts';
export { ANONYMOUS_CREDENTIALS, ASSERTION_CREDENTIALS, type CredentialType } from './credential-types.ts';
export type { Credential, LiveCredential } from './credential.ts';
export type { Registration, RegistrationRequest } from './registration.ts';

/** Agents: programs that provision themselves, the developers they act for, and their credentials. */
export interface Agents extends AgentDirectory, AgentRevocation, IssuerEvents {
  /** Whether any issuer is trusted to assert identities. */
  readonly trustsIssuers: boolean;
  /**
   * @throws ApiError VALIDATION_FAILED, INVALID_ASSERTION, INTERACTION_REQUIRED, UNSUPPORTED_CREDENTIAL_TYPE,
   *   TOO_MANY_REQUESTS
   */
  register(request: RegistrationRequest, client: Client): Promise<Registration>;
  /**
   * Begins a claim, or completes it when the request has an `otp`.
   * @throws ApiError VALIDATION_FAILED, INVALID_CLAIM_TOKEN, OTP_INVALID, OTP_EXPIRED, CLAIM_EXPIRED,
   *   ALREADY_CLAIMED, UNSUPPORTED_CREDENTIAL_TYPE, TOO_MANY_REQUESTS
   */
  claim(request: ClaimRequest, client: Client): Promise<InitiatedClaim | CompletedClaim>;
  readonly claimPage: ClaimPage;
  /**
   * Exchanges an ID-JAG at the token endpoint, once: RFC 7523 and
   * draft-ietf-oauth-identity-assertion-authz-grant.
   * @param clientId the client that has authenticated there
   * @throws ApiError INVALID_ASSERTION, INTERACTION_REQUIRED
   */
  exchangeAssertion(
    assertion: string,
    clientId: string,
    client: Client,
  ): Promise<{ readonly agentId: string; readonly developerId: string; readonly scopes: readonly Scope[] }>;
  /** Deletes one batch of what has expired. @returns how many rows */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly trustedIssuers: readonly TrustedIssuer[];
  readonly outbound: Pick<OutboundHttp, 'get'>;
  readonly developers: Developers;
  readonly apiTokens: Pick<ApiTokens, 'lockMakerForShare'>;
  readonly tokens: Tokens;
  readonly accessTokens: Pick<AccessTokens, 'find' | 'revoke'>;
  readonly securityEvents: Pick<SecurityEvents, 'agentRevoked' | 'publish'>;
  readonly mails: Pick<Mails, 'enqueue' | 'assertMaySend'>;
  readonly limits: Limits;
  readonly keys: Keys;
  readonly addresses: Addresses;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly logger: Logger;
}

export function createAgents(deps: Dependencies): Agents {
  const { trustedIssuers, addresses } = deps;
  const issuers = createIssuers({ ...deps, trusted: trustedIssuers });
  const assertions = createAssertions({ ...deps, issuers, issuer: addresses.issuer });
  const credentials = createCredentials(deps);
  const { revokeWhere, ...agentRevocation } = createRevocation(deps);
  const revocation = { revokeWhere };
  const openClaim = createClaimOpening(deps);
  const claimMails = createClaimMails(deps);
  const sandboxAgents = createSandboxAgents({ ...deps, credentials, openClaim });
  const claims = createClaims({ ...deps, credentials, revocation, openClaim, claimMails, sandboxAgents });
  const admission = createAdmission({ ...deps, assertions, openClaim, revocation });

  return {
    trustsIssuers: !issuers.isEmpty,
    register: createRegistration({ ...deps, admission, claims, openClaim, credentials }),
    claim: claims.claim,
    claimPage: createClaimPage(deps),
    async exchangeAssertion(assertion, clientId, client) {
      const request = { assertion, clientId, type: 'jwt', name: undefined } as const;
      const { agentId, developerId, scopes } = await admission.admit(request, client, async () => undefined);
      return { agentId, developerId, scopes };
    },
    ...createIssuerEvents({ ...deps, assertions, revocation }),
    ...agentRevocation,
    ...createDirectory({ ...deps, credentials }),
    clearExpired: () => clearExpired(deps),
  };
}
