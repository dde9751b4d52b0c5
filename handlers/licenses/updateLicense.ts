import type { Handler } from '../handler.ts';
import { toLicense } from './license.ts';

export const updateLicense: Handler<'updateLicense'> = async ({ path, body, actor }, { licenses }) => {
  const license = await licenses.update(actor, path.app_id, path.license_id, {
    note: body.note,
    redeemBy: body.redeem_by ? new Date(body.redeem_by) : body.redeem_by === null ? null : undefined,
  });
  return { status: 200, body: { status: 'success', license: toLicense(license) } };
};
