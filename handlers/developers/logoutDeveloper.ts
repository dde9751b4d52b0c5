import type { Handler } from '../handler.ts';

export const logoutDeveloper: Handler<'logoutDeveloper'> = async ({ actor }, { apiTokens, developers }) => {
  if (actor.sessionDigest) await developers.logout(actor, actor.sessionDigest);
  else await apiTokens.revokeOwn(actor);
  return { status: 200, body: { status: 'success', message: 'Token ended.' } };
};
