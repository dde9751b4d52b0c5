import type { Handler } from '../handler.ts';

export const revokeAuthorization: Handler<'revokeAuthorization'> = async (
  { path, actor },
  { authorizations },
) => {
  await authorizations.revoke(actor, path.authorization_id);
  return { status: 200, body: { status: 'success', message: 'Authorization revoked.' } };
};
