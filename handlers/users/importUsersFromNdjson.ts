import type { Handler } from '../handler.ts';

export const importUsersFromNdjson: Handler<'importUsersFromNdjson'> = async (
  { path, upload, actor },
  { userImports },
) => {
  const imported = await userImports.import(actor, path.app_id, upload, 'application/x-ndjson');
  return { status: 201, body: { status: 'success', imported } };
};
