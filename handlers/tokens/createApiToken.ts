import type { Handler } from '../handler.ts';
import { toApiToken } from './api-token.ts';

export const createApiToken: Handler<'createApiToken'> = async ({ body, actor, scopes }, { apiTokens }) => {
  const { apiToken, token } = await apiTokens.create(actor, scopes, {
    name: body.name,
    scopes: body.scopes,
    expiresAt: body.expires_at ? new Date(body.expires_at) : null,
  });
  return { status: 201, body: { status: 'success', ...toApiToken(apiToken), token } };
};
