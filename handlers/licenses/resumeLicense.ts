import type { Handler } from '../handler.ts';
import { toLicense } from './license.ts';

export const resumeLicense: Handler<'resumeLicense'> = async ({ path, actor }, { licenses }) => {
  const license = await licenses.resume(actor, path.app_id, path.license_id);
  return { status: 200, body: { status: 'success', license: toLicense(license) } };
};
