import type { Handler } from '../handler.ts';
import { toDeveloperSession } from './developer-session.ts';

export const loginDeveloper: Handler<'loginDeveloper'> = async ({ body, client }, { developers }) => {
  const session = await developers.login(body.email, body.password, client);
  return { status: 200, body: toDeveloperSession(session) };
};
