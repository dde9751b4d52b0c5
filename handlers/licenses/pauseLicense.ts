import type { Handler } from '../handler.ts';
import { toLicense } from './license.ts';

export const pauseLicense: Handler<'pauseLicense'> = async ({ path, actor }, { licenses }) => {
  const license = await licenses.pause(actor, path.app_id, path.license_id);
  return { status: 200, body: { status: 'success', license: toLicense(license) } };
};
