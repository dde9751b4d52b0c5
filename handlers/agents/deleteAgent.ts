import type { Handler } from '../handler.ts';

export const deleteAgent: Handler<'deleteAgent'> = async ({ path, actor }, { agents }) => {
  await agents.revoke(actor, path.agent_id);
  return { status: 200, body: { status: 'success', message: 'Agent revoked.' } };
};
