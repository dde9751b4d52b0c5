import type { Handler } from '../handler.ts';

export const deleteFile: Handler<'deleteFile'> = async ({ path, actor }, { files }) => {
  await files.delete(actor, path.app_id, path.file_name);
  return { status: 200, body: { status: 'success', message: 'File deleted.' } };
};
