import type { Handler } from '../handler.ts';
import { toLicense } from './license.ts';

export const transferLicense: Handler<'transferLicense'> = async ({ path, body, actor }, { licenses }) => {
  const license = await licenses.transfer(actor, path.app_id, path.license_id, body.username);
  return { status: 200, body: { status: 'success', license: toLicense(license) } };
};
