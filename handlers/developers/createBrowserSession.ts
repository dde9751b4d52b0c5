import type { Handler } from '../handler.ts';
import { toBrowserSession } from './browser-session.ts';

export const createBrowserSession: Handler<'createBrowserSession'> = async (
  { body, allHeaders, client },
  { browserSessions },
) => {
  const { session, setCookie } = await browserSessions.open(body, allHeaders.cookie, client);
  return { status: 201, body: toBrowserSession(session), headers: { 'Set-Cookie': setCookie } };
};
