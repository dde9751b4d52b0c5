import type { Handler } from '../handler.ts';
import { cached } from './cached.ts';

export const listClientVariables: Handler<'listClientVariables'> = async (
  { path, headers, session, trust },
  { variables },
) => {
  const { app_id: appId } = path;
  const reader = { appId, session, trust, ifNoneMatch: headers['if-none-match'] };
  const { tag, content } = await variables.visible(reader);
  if (content === undefined) return { status: 304, headers: cached(tag) };
  return { status: 200, headers: cached(tag), body: { status: 'success', data: content } };
};
