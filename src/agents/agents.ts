import type { Knex } from 'knex';
import type { AccessTokens } from '../access-tokens/access-tokens.ts';
import type { ApiTokens } from '../api-tokens/api-tokens.ts';
import type { Addresses } from '../addresses/addresses.ts';
import type { Actor, Audit } from '../audit/audit.ts';
import type { Developers, Scope } from '../developers/developers.ts';
import type { Keys } from '../keys/keys.ts';
import type { Limits } from '../limits/limits.ts';
import type { Mails } from '../mails/mails.ts';
import type { Page, PageRequest } from '../paging/page.ts';
import type { Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import type { OutboundHttp } from '../platform/outbound-http/index.ts';
import type { Random } from '../platform/random.ts';
import type { SecurityEvents } from '../security-events/security-events.ts';
import type { Tokens } from '../tokens/tokens.ts';
import { createAdmission } from './admission.ts';
import { createAssertions } from './assertions.ts';
import { createClaimMails } from './claim-mails.ts';
import { createClaimPage } from './claim-page.ts';
import { createClaims } from './claims.ts';
import { clearExpired } from './clearing.ts';
import { createCredentials } from './credentials.ts';
import { createDirectory } from './directory.ts';
import type { TrustedIssuer } from './issuer-state.ts';
import { createIssuers } from './issuers.ts';
import { createRegistration } from './registration.ts';
import { createRevocation } from './revocation.ts';
import { createSandboxAgents } from './sandbox-agents.ts';

export type RegistrationType = 'agent-provider' | 'email-verification' | 'anonymous' | 'developer';
export type CredentialType = 'bearer_token' | 'jwt' | 'sandbox_token' | 'ephemeral_key';

/** What an agent can ask for whose identity somebody asserts; the first one where it asks for none. */
export const ASSERTION_CREDENTIALS = ['bearer_token', 'jwt'] as const satisfies CredentialType[];
/** What an agent can ask for that nobody knows. */
export const ANONYMOUS_CREDENTIALS = ['ephemeral_key', 'sandbox_token'] as const satisfies CredentialType[];

/** What an agent acts with. */
export interface Credential {
  readonly type: CredentialType;
  /** The secret itself: it is shown once. */
  readonly credential: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date;
}

/** What an agent asks for when it registers itself: as auth.md (v0.1) has it. */
export interface RegistrationRequest {
  readonly type: 'identity_assertion' | 'anonymous';
  readonly assertionType?: 'urn:ietf:params:oauth:token-type:id-jag' | 'verified_email' | undefined;
  /** An ID-JAG, or an e-mail address. */
  readonly assertion?: string | undefined;
  readonly requestedCredentialType?: string | undefined;
  /** What it calls itself. */
  readonly name?: string | undefined;
}

/** With what somebody can take an agent for his own. */
export interface ClaimHandle {
  readonly claimToken: string;
  readonly expiresAt: Date;
  readonly postClaimScopes: readonly Scope[];
}

export interface Registration {
  readonly agentId: string;
  readonly registrationType: Exclude<RegistrationType, 'developer'>;
  /** Undefined where the agent gets one with its claim. */
  readonly credential: Credential | undefined;
  /** Undefined where it acts for somebody already. */
  readonly claim: ClaimHandle | undefined;
}

export interface ClaimRequest {
  readonly claimToken?: string | undefined;
  readonly email?: string | undefined;
  readonly otp?: string | undefined;
  readonly requestedCredentialType?: string | undefined;
  readonly name?: string | undefined;
}

/** A claim that has begun: the mail is on its way. */
export interface InitiatedClaim {
  readonly status: 'initiated';
  readonly agentId: string;
  readonly attemptId: string;
  readonly expiresAt: Date;
  /** Of a claim that began with an e-mail address alone. */
  readonly claim: ClaimHandle | undefined;
}

export interface CompletedClaim {
  readonly status: 'claimed';
  readonly agentId: string;
  readonly scopes: readonly Scope[];
  /** Undefined where the agent keeps the one that it has, and asked for no other. */
  readonly credential: Credential | undefined;
}

export interface Agent {
  readonly agentId: string;
  readonly registrationType: RegistrationType;
  readonly name: string | null;
  readonly issuer: string | null;
  readonly subject: string | null;
  readonly clientId: string | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

/** What can be told of a credential that was shown already. */
export interface LiveCredential extends Omit<Credential, 'credential'> {
  readonly createdAt: Date;
}

/** Whom a live credential stands for. */
export interface AgentIdentity {
  readonly agentId: string;
  /** Null until somebody has claimed the agent. */
  readonly developerId: string | null;
  readonly scopes: readonly Scope[];
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** What the page of a mailed link shows. */
export interface ClaimView {
  /** `open`: it can be confirmed, or rejected. */
  readonly state: 'open' | 'claimed' | 'rejected' | 'expired';
  readonly email: string;
  readonly agentName: string | null;
  /** Who has asserted the agent's identity. */
  readonly issuer: string | null;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date;
  /** Whether whoever confirms must sign in: there is an account of this address that has a password. */
  readonly asksPassword: boolean;
}

/** What people do on the page of a mailed link. The token in its address is a secret. */
export interface ClaimPage {
  /** @returns undefined for an address that was never mailed, or is not the last one that was */
  view(viewToken: string): Promise<ClaimView | undefined>;
  /**
   * Makes a new code of six digits for the agent: the last one counts, for ten minutes.
   * @param chosen a password for an account that has none, which is opened for it where there is none; the empty text for none
   * @returns undefined like `view`; `denied` when the password is not that of the account, or must not be chosen
   * @throws ApiError TOO_MANY_REQUESTS
   */
  confirm(
    viewToken: string,
    passwords: { readonly password: string; readonly chosen: string },
    client: Client,
  ): Promise<{ readonly otp: string; readonly expiresAt: Date } | { readonly denied: true } | undefined>;
  /** Ends the claim: this agent is not wanted. @returns whether there was one */
  reject(viewToken: string, client: Client): Promise<boolean>;
}

/** Agents: programs that provision themselves, for whom they act, and what they act with. */
export interface Agents {
  /** Whether there is an issuer whose assertions are taken. */
  readonly trustsIssuers: boolean;
  /**
   * @throws ApiError VALIDATION_FAILED, INVALID_ASSERTION, INTERACTION_REQUIRED, UNSUPPORTED_CREDENTIAL_TYPE,
   *   TOO_MANY_REQUESTS
   */
  register(request: RegistrationRequest, client: Client): Promise<Registration>;
  /**
   * Begins a claim, or completes it where there is an `otp`.
   * @throws ApiError VALIDATION_FAILED, INVALID_CLAIM_TOKEN, OTP_INVALID, OTP_EXPIRED, CLAIM_EXPIRED, ALREADY_CLAIMED,
   *   UNSUPPORTED_CREDENTIAL_TYPE, TOO_MANY_REQUESTS
   */
  claim(request: ClaimRequest, client: Client): Promise<InitiatedClaim | CompletedClaim>;
  readonly claimPage: ClaimPage;
  /**
   * Revokes one credential, by whoever has it. One that is unknown is revoked already (RFC 7009, section 2.2).
   * @throws ApiError VALIDATION_FAILED without one
   */
  revokeCredential(credential: string | undefined, client: Client): Promise<void>;
  /**
   * Takes the word of a trusted issuer that an agent is to be revoked.
   * @param token a Security Event Token (RFC 8417) or a logout token
   * @throws ApiError INVALID_SECURITY_EVENT
   */
  receiveSecurityEvent(token: string, kind: 'secevent' | 'logout', client: Client): Promise<void>;
  /**
   * What an ID-JAG is worth at the token endpoint, once: RFC 7523 and draft-ietf-oauth-identity-assertion-authz-grant.
   * @param clientId who has authenticated there
   * @throws ApiError INVALID_ASSERTION, INTERACTION_REQUIRED
   */
  exchangeAssertion(
    assertion: string,
    clientId: string,
    client: Client,
  ): Promise<{ readonly agentId: string; readonly developerId: string; readonly scopes: readonly Scope[] }>;
  /** Whom a credential stands for now; undefined when it is nobody's. */
  authenticate(credential: string): Promise<AgentIdentity | undefined>;
  /** Whether an agent was not revoked, for whoever keeps credentials of agents himself. */
  isAlive(agentId: string): Promise<boolean>;
  /** @param held the scopes of the token that makes it. @throws ApiError INSUFFICIENT_SCOPE */
  create(
    actor: Actor,
    held: readonly Scope[],
    wanted: {
      readonly name: string;
      readonly credentialType: 'bearer_token' | 'jwt';
      readonly scopes: readonly Scope[];
    },
  ): Promise<{ readonly agent: Agent; readonly credential: Credential }>;
  list(developerId: string, page: PageRequest): Promise<Page<Agent>>;
  /** @throws ApiError AGENT_NOT_FOUND */
  get(
    developerId: string,
    agentId: string,
  ): Promise<{ readonly agent: Agent; readonly credentials: readonly LiveCredential[] }>;
  /** Revokes an agent with all that it holds. @throws ApiError AGENT_NOT_FOUND */
  revoke(actor: Actor, agentId: string): Promise<void>;
  /**
   * Takes back what the developer has confirmed where no agent has come of it yet, for whoever revokes every agent in a
   * transaction that locks the developer too: before that, as those lock who let agents in.
   */
  withdrawConfirmations(trx: Knex.Transaction, developerId: string): Promise<void>;
  /** Revokes every agent of the developer. @returns how many were alive */
  revokeAll(actor: Actor): Promise<number>;
  /** Deletes some of what has expired. @returns how many */
  clearExpired(): Promise<number>;
}

/** What an agent may do before somebody has claimed it, by its credential. */
export const PRE_CLAIM_SCOPES = {
  sandbox_token: ['auth:client'],
  ephemeral_key: ['auth:client', 'agent:execute'],
} as const satisfies Partial<Record<CredentialType, readonly Scope[]>>;

/** What an agent may do for the developer who has claimed it. */
export const POST_CLAIM_SCOPES: readonly Scope[] = ['read', 'write', 'auth:client', 'agent:execute'];

interface Dependencies {
  readonly knex: Knex;
  readonly trustedIssuers: readonly TrustedIssuer[];
  readonly outbound: Pick<OutboundHttp, 'get'>;
  readonly developers: Developers;
  readonly apiTokens: Pick<ApiTokens, 'holdMaker'>;
  readonly tokens: Tokens;
  readonly accessTokens: Pick<AccessTokens, 'find' | 'revoke'>;
  readonly securityEvents: Pick<SecurityEvents, 'agentRevoked' | 'tell'>;
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
  const revocation = createRevocation({ ...deps, assertions });
  const claimMails = createClaimMails(deps);
  const sandboxAgents = createSandboxAgents({ ...deps, credentials });
  const claims = createClaims({ ...deps, credentials, revocation, claimMails, sandboxAgents });
  const admission = createAdmission({ ...deps, assertions, claims, revocation });
  const { revokeCredential, receiveSecurityEvent, revoke, withdrawConfirmations, revokeAll } = revocation;

  return {
    trustsIssuers: !issuers.isEmpty,
    register: createRegistration({ ...deps, admission, claims, credentials }),
    claim: claims.claim,
    claimPage: createClaimPage(deps),
    revokeCredential,
    receiveSecurityEvent,
    async exchangeAssertion(assertion, clientId, client) {
      const request = { assertion, clientId, type: 'jwt', name: undefined } as const;
      const { agentId, developerId, scopes } = await admission.admit(request, client, async () => undefined);
      return { agentId, developerId, scopes };
    },
    revoke,
    withdrawConfirmations,
    revokeAll,
    ...createDirectory({ ...deps, credentials }),
    clearExpired: () => clearExpired(deps),
  };
}
