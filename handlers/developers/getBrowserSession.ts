import type { Handler } from '../handler.ts';
import { toBrowserSession } from './browser-session.ts';

export const getBrowserSession: Handler<'getBrowserSession'> = async (
  { allHeaders, client },
  { browserSessions },
) => {
  const session = await browserSessions.current(allHeaders.cookie, client);
  return { status: 200, body: toBrowserSession(session) };
};
