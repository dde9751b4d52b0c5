import type { Handler } from '../handler.ts';

export const logoutDeveloper: Handler<'logoutDeveloper'> = async (
  { actor, developerSession },
  { apiTokens, developers },
) => {
  if (developerSession) await developers.logout(actor, developerSession);
  else await apiTokens.revokeOwn(actor);
  return { status: 200, body: { status: 'success', message: 'Token ended.' } };
};
