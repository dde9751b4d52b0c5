import type { Handler } from '../handler.ts';

export const deleteApplication: Handler<'deleteApplication'> = async ({ path, actor }, { applications }) => {
  await applications.delete(actor, path.app_id);
  return { status: 200, body: { status: 'success', message: 'Application deleted.' } };
};
