import type { components } from '../../generated/types.ts';
import type {
  Agent,
  ClaimHandle,
  CompletedClaim,
  Credential,
  InitiatedClaim,
} from '../../src/access/agents/agents.ts';

/** An agent as the contract shows it. */
export function toAgent(agent: Agent): components['schemas']['Agent'] {
  return {
    agent_id: agent.agentId,
    registration_type: agent.registrationType,
    name: agent.name,
    issuer: agent.issuer,
    subject: agent.subject,
    client_id: agent.clientId,
    created_at: agent.createdAt.toISOString(),
    revoked_at: agent.revokedAt?.toISOString() ?? null,
  };
}

/** A credential as the contract shows it, once. */
export function toCredential({ type, credential, scopes, expiresAt }: Credential) {
  return {
    credential_type: type,
    credential,
    credential_expires: expiresAt.toISOString(),
    scopes: [...scopes],
  };
}

/** @param claimUrl where claims are begun and completed */
export function toClaimHandle({ claimToken, expiresAt, postClaimScopes }: ClaimHandle, claimUrl: string) {
  return {
    claim_url: claimUrl,
    claim_token: claimToken,
    claim_token_expires: expiresAt.toISOString(),
    post_claim_scopes: [...postClaimScopes],
  };
}

/** A claim that has begun, as the contract shows it. @param claimUrl where it is completed */
export function toInitiated(initiated: InitiatedClaim, claimUrl: string) {
  const { status, agentId, attemptId, expiresAt, claim } = initiated;
  return {
    status,
    registration_id: agentId,
    claim_attempt_id: attemptId,
    expires_at: expiresAt.toISOString(),
    ...(claim && toClaimHandle(claim, claimUrl)),
  };
}

/** A claim that is complete, as the contract shows it. */
export function toClaimed({ status, agentId, scopes, credential }: CompletedClaim) {
  return {
    status,
    registration_id: agentId,
    scopes: [...scopes],
    ...(credential && toCredential(credential)),
  };
}
