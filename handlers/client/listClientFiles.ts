import type { Handler } from '../handler.ts';
import { toClientFile } from '../files/file.ts';
import { cached } from './cached.ts';

export const listClientFiles: Handler<'listClientFiles'> = async (
  { path, headers, session, trust },
  { files },
) => {
  const downloader = { appId: path.app_id, session, trust };
  const { tag, files: found } = await files.available(downloader, headers['if-none-match']);
  if (found === undefined) return { status: 304, headers: cached(tag) };
  return {
    status: 200,
    headers: cached(tag),
    body: { status: 'success', data: found.map(toClientFile) },
  };
};
