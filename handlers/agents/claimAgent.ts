import type { Handler } from '../handler.ts';
import { toClaimed, toInitiated } from './agent.ts';

export const claimAgent: Handler<'claimAgent'> = async ({ body, client }, { agents, addresses }) => {
  const claim = await agents.claim(
    {
      claimToken: body.claim_token,
      email: body.email,
      otp: body.otp,
      requestedCredentialType: body.requested_credential_type,
      name: body.name,
    },
    client,
  );
  return {
    status: 200,
    body: claim.status === 'claimed' ? toClaimed(claim) : toInitiated(claim, addresses.agentClaim()),
  };
};
