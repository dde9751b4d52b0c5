import type { Handler } from '../handler.ts';

export const deleteUnusedLicenses: Handler<'deleteUnusedLicenses'> = async (
  { path, query, actor },
  { licenses },
) => {
  const deleted = await licenses.deleteUnused(actor, path.app_id, query.tier);
  return { status: 200, body: { status: 'success', deleted } };
};
