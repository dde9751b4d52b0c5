import type { Handler } from '../handler.ts';

export const getAgentToken: Handler<'getAgentToken'> = async ({ agent }) => ({
  status: 200,
  body: {
    status: 'success',
    scope: agent.scopes.join(' '),
    expires_in: agent.expiresInSeconds,
    expires_at: agent.expiresAt.toISOString(),
    reference: agent.id,
    claimed: agent.isClaimed,
  },
});
