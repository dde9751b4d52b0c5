import type { Handler } from '../handler.ts';
import { toCreatedLicenses } from './license.ts';

export const createLicenses: Handler<'createLicenses'> = async (
  { path, body, actor, mediaType },
  { licenses },
) => {
  const made = await licenses.create(actor, path.app_id, {
    amount: body.amount,
    durationDays: body.duration_days,
    tier: body.tier,
    redeemBy: body.redeem_by ? new Date(body.redeem_by) : null,
    note: body.note ?? null,
    mask: body.mask,
  });
  const csv = mediaType === 'text/csv';
  return { status: 201, mediaType, stream: csv ? licenses.toCsv(made) : toCreatedLicenses(made) };
};
