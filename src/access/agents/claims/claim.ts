import type { Scope } from '../../../accounts/developers/developers.ts';
import type { ASSERTION_CREDENTIALS } from '../credential-types.ts';
import type { Credential } from '../credential.ts';

/** The token with which a user can claim an agent. */
export interface ClaimHandle {
  readonly claimToken: string;
  readonly expiresAt: Date;
  readonly postClaimScopes: readonly Scope[];
}

/** The credential types that a completed claim can give. */
export type ClaimedType = (typeof ASSERTION_CREDENTIALS)[number];

/** What a claim gives once it is completed. */
export interface NewClaim {
  readonly agentId: string;
  /** Null where the request that begins the claim names it. */
  readonly email: string | null;
  /** Null where the agent already has a credential. */
  readonly type: ClaimedType | null;
  readonly scopes: readonly Scope[];
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
  /** Only for a claim that began with an email address alone. */
  readonly claim: ClaimHandle | undefined;
}

export interface CompletedClaim {
  readonly status: 'claimed';
  readonly agentId: string;
  readonly scopes: readonly Scope[];
  /** Undefined where the agent keeps its credential and has requested no other. */
  readonly credential: Credential | undefined;
}
