import type { Handler } from '../handler.ts';
import { toClaimHandle, toCredential } from './agent.ts';

export const registerAgent: Handler<'registerAgent'> = async ({ body, client }, { agents, addresses }) => {
  const { agentId, registrationType, credential, claim } = await agents.register(
    {
      type: body.type,
      assertionType: body.assertion_type,
      assertion: body.assertion,
      requestedCredentialType: body.requested_credential_type,
      name: body.name,
    },
    client,
  );
  return {
    status: 200,
    body: {
      status: 'success',
      registration_id: agentId,
      registration_type: registrationType,
      ...(credential && toCredential(credential)),
      ...(claim && toClaimHandle(claim, addresses.agentClaim())),
    },
  };
};
