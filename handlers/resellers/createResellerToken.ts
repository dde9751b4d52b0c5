import type { Handler } from '../handler.ts';
import { toApiToken } from '../tokens/api-token.ts';

export const createResellerToken: Handler<'createResellerToken'> = async (
  { path, body, actor, scopes },
  { resellers },
) => {
  const { apiToken, token } = await resellers.createToken(actor, scopes, path.reseller_id, {
    name: body.name,
    scopes: body.scopes,
    expiresAt: body.expires_at ? new Date(body.expires_at) : null,
  });
  return { status: 201, body: { status: 'success', ...toApiToken(apiToken), token } };
};
