import type { Handler } from '../handler.ts';
import { cached } from './cached.ts';

export const listClientVariables: Handler<'listClientVariables'> = async (
  { path, headers, session },
  { variables },
) => {
  const { app_id: appId } = path;
  const { tag, content } = await variables.visible({ appId, session, ifNoneMatch: headers['if-none-match'] });
  if (content === undefined) return { status: 304, headers: cached(tag) };
  return { status: 200, headers: cached(tag), body: { status: 'success', data: content } };
};
