import type { Handler } from '../handler.ts';
import { toContent } from '../files/content.ts';

export const downloadClientFile: Handler<'downloadClientFile'> = async (
  { path, headers, session, trust },
  { files },
) => {
  const wishes = {
    range: headers.range,
    ifRange: headers['if-range'],
    ifNoneMatch: headers['if-none-match'],
  };
  const downloader = { appId: path.app_id, session, trust };
  return toContent(await files.downloadForProgram(downloader, path.file_name, wishes));
};
