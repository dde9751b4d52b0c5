import type { Handler } from '../handler.ts';

export const deleteLicense: Handler<'deleteLicense'> = async ({ path, actor }, { licenses }) => {
  await licenses.delete(actor, path.app_id, path.license_id);
  return { status: 200, body: { status: 'success', message: 'License deleted.' } };
};
