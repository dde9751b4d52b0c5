import type { Handler } from '../handler.ts';
import { toFile } from './file.ts';

export const updateFile: Handler<'updateFile'> = async ({ path, body, actor }, { files }) => {
  const file = await files.update(actor, path.app_id, path.file_name, {
    version: body.version,
    authenticatedOnly: body.authenticated_only,
  });
  return { status: 200, body: { status: 'success', ...toFile(file) } };
};
