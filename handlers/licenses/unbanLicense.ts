import type { Handler } from '../handler.ts';
import { toLicense } from './license.ts';

export const unbanLicense: Handler<'unbanLicense'> = async ({ path, actor }, { licenses }) => {
  const license = await licenses.unban(actor, path.app_id, path.license_id);
  return { status: 200, body: { status: 'success', license: toLicense(license) } };
};
