import type { Handler } from '../handler.ts';

export const revokeAllAgents: Handler<'revokeAllAgents'> = async ({ actor }, { agents }) => ({
  status: 200,
  body: { status: 'success', revoked: await agents.revokeAll(actor) },
});
