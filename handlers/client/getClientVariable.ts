import type { Handler } from '../handler.ts';
import { cached } from './cached.ts';

export const getClientVariable: Handler<'getClientVariable'> = async (
  { path, headers, session, trust },
  { variables },
) => {
  const reader = { appId: path.app_id, session, trust, ifNoneMatch: headers['if-none-match'] };
  const { tag, content } = await variables.visibleOne(reader, path.name);
  if (content === undefined) return { status: 304, headers: cached(tag) };
  return { status: 200, headers: cached(tag), body: { status: 'success', ...content } };
};
