import type { Handler } from '../handler.ts';

export const listLicenses: Handler<'listLicenses'> = async ({ path, query, actor }, { licenses }) => {
  const page = await licenses.list(actor.developerId, path.app_id, {
    limit: query.limit,
    cursor: query.cursor,
  });
  return {
    status: 200,
    body: {
      status: 'success',
      data: page.data.map((license) => ({
        license_id: license.licenseId,
        license_key: license.licenseKey,
        tier: license.tier,
        duration_days: license.durationDays,
        status: license.status,
        note: license.note,
        redeem_by: license.redeemBy?.toISOString() ?? null,
        redeemed_at: license.redeemedAt?.toISOString() ?? null,
        redeemed_by: license.redeemedBy,
        created_at: license.createdAt.toISOString(),
      })),
      next_cursor: page.nextCursor,
    },
  };
};
