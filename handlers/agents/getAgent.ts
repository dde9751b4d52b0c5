import type { Handler } from '../handler.ts';
import { toAgent } from './agent.ts';

export const getAgent: Handler<'getAgent'> = async ({ path, actor }, { agents }) => {
  const { agent, credentials } = await agents.get(actor.developerId, path.agent_id);
  return {
    status: 200,
    body: {
      status: 'success',
      ...toAgent(agent),
      credentials: credentials.map(({ type, scopes, createdAt, expiresAt }) => ({
        credential_type: type,
        scopes: [...scopes],
        created_at: createdAt.toISOString(),
        expires_at: expiresAt.toISOString(),
      })),
    },
  };
};
