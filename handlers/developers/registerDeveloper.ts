import type { Handler } from '../handler.ts';
import { toDeveloperSession } from './developer-session.ts';

export const registerDeveloper: Handler<'registerDeveloper'> = async ({ body, client }, { developers }) => {
  const session = await developers.register(body, client);
  return { status: 201, body: toDeveloperSession(session) };
};
