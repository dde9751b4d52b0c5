import type { Handler } from '../handler.ts';
import { toClaimHandle, toCredential } from './agent.ts';

export const claimAgent: Handler<'claimAgent'> = async ({ body, client }, { agents, addresses }) => {
  const claimed = await agents.claim(
    {
      claimToken: body.claim_token,
      email: body.email,
      otp: body.otp,
      requestedCredentialType: body.requested_credential_type,
      name: body.name,
    },
    client,
  );
  if (claimed.status === 'initiated') {
    const { status, agentId, attemptId, expiresAt, claim } = claimed;
    return {
      status: 200,
      body: {
        status,
        registration_id: agentId,
        claim_attempt_id: attemptId,
        expires_at: expiresAt.toISOString(),
        ...(claim && toClaimHandle(claim, addresses.agentClaim())),
      },
    };
  }
  const { status, agentId, scopes, credential } = claimed;
  return {
    status: 200,
    body: {
      status,
      registration_id: agentId,
      scopes: [...scopes],
      ...(credential && toCredential(credential)),
    },
  };
};
