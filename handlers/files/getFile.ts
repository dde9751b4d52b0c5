import type { Handler } from '../handler.ts';
import { toFile } from './file.ts';

export const getFile: Handler<'getFile'> = async ({ path, actor }, { files }) => {
  const file = await files.get(actor.developerId, path.app_id, path.file_name);
  return { status: 200, body: { status: 'success', ...toFile(file) } };
};
