import type { Handler } from '../handler.ts';
import { toContent } from './content.ts';

export const downloadFile: Handler<'downloadFile'> = async ({ path, headers, actor }, { files }) => {
  const wishes = {
    range: headers.range,
    ifRange: headers['if-range'],
    ifNoneMatch: headers['if-none-match'],
  };
  return toContent(await files.download(actor.developerId, path.app_id, path.file_name, wishes));
};
