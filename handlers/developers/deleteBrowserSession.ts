import type { Handler } from '../handler.ts';

export const deleteBrowserSession: Handler<'deleteBrowserSession'> = async (
  { allHeaders, client },
  { browserSessions },
) => {
  const setCookie = await browserSessions.end(allHeaders.cookie, client);
  return {
    status: 200,
    body: { status: 'success', message: 'Signed out.' },
    headers: { 'Set-Cookie': setCookie },
  };
};
