import type { Handler } from '../handler.ts';
import { toDuration } from '../licenses/duration.ts';

export const createResellerLicenses: Handler<'createResellerLicenses'> = async (
  { body, actor, resellerId },
  { resellerAccount },
) => {
  const purchase = await resellerAccount.generate(actor, resellerId, {
    appId: body.app_id,
    tier: body.tier,
    durationDays: body.duration_days ?? null,
    amount: body.amount,
    note: body.note ?? null,
  });
  return {
    status: 201,
    body: {
      status: 'success',
      licenses: purchase.licenses.map((license) => ({
        license_id: license.licenseId,
        license_key: license.licenseKey,
        tier: license.tier,
        ...toDuration(license.durationDays),
      })),
      cost: purchase.cost,
      balance: purchase.balance,
      currency: purchase.currency,
      entry_id: purchase.entryId,
    },
  };
};
