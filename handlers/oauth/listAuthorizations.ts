import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';

export const listAuthorizations: Handler<'listAuthorizations'> = async (
  { query, actor },
  { authorizations },
) => {
  const page = { limit: query.limit, cursor: query.cursor };
  return toPage(await authorizations.list(actor.developerId, page), (authorization) => ({
    authorization_id: authorization.authorizationId,
    client_id: authorization.clientId,
    client_name: authorization.clientName,
    scopes: [...authorization.scopes],
    created_at: authorization.createdAt.toISOString(),
    expires_at: authorization.expiresAt.toISOString(),
  }));
};
