import type { Handler } from '../handler.ts';

export const extendLicenses: Handler<'extendLicenses'> = async ({ path, body, actor }, { licenses }) => {
  const { days, license_ids: licenseIds, all, tier } = body;
  const extended = await licenses.extend(actor, path.app_id, { days, licenseIds, all, tier });
  return { status: 200, body: { status: 'success', ...extended } };
};
