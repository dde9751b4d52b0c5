import type { Handler } from '../handler.ts';

export const importUsers: Handler<'importUsers'> = async ({ path, upload, actor }, { userImports }) => {
  const imported = await userImports.import(actor, path.app_id, upload, 'text/csv');
  return { status: 201, body: { status: 'success', imported } };
};
