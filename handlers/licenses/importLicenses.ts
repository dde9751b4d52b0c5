import type { Handler } from '../handler.ts';

export const importLicenses: Handler<'importLicenses'> = async ({ path, upload, actor }, { licenses }) => {
  const imported = await licenses.import(actor, path.app_id, upload);
  return { status: 201, body: { status: 'success', imported } };
};
