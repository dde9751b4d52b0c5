import type { Handler } from '../handler.ts';

export const deleteApiToken: Handler<'deleteApiToken'> = async ({ path, actor }, { apiTokens }) => {
  await apiTokens.revoke(actor, path.token_id);
  return { status: 200, body: { status: 'success', message: 'API token revoked.' } };
};
