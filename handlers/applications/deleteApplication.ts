import type { Handler } from '../handler.ts';

export const deleteApplication: Handler<'deleteApplication'> = async (
  { path, developer },
  { applications },
) => {
  await applications.delete(developer.developerId, path.app_id);
  return { status: 200, body: { status: 'success', message: 'Application deleted.' } };
};
