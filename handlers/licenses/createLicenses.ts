import type { Handler } from '../handler.ts';

export const createLicenses: Handler<'createLicenses'> = async ({ path, body, actor }, { licenses }) => {
  const made = await licenses.create(actor, path.app_id, {
    amount: body.amount,
    durationDays: body.duration_days,
    tier: body.tier,
    redeemBy: body.redeem_by ? new Date(body.redeem_by) : null,
    note: body.note ?? null,
  });
  return {
    status: 201,
    body: {
      status: 'success',
      licenses: made.map((license) => ({
        license_id: license.licenseId,
        license_key: license.licenseKey,
        tier: license.tier,
        duration_days: license.durationDays,
      })),
    },
  };
};
