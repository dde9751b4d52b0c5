import type { components } from '../../generated/types.ts';
import type { Agent, ClaimHandle, Credential } from '../../src/agents/agents.ts';

/** An agent as the contract shows it. */
export function toAgent(agent: Agent): components['schemas']['AgentMembers'] {
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
