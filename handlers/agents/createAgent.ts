import type { Handler } from '../handler.ts';
import { toAgent, toCredential } from './agent.ts';

export const createAgent: Handler<'createAgent'> = async ({ body, actor, scopes }, { agents }) => {
  const { agent, credential } = await agents.create(actor, scopes, {
    name: body.name,
    credentialType: body.credential_type ?? 'bearer_token',
    scopes: body.scopes,
  });
  return { status: 201, body: { status: 'success', ...toAgent(agent), ...toCredential(credential) } };
};
