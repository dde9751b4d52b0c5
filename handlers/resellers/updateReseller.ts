import type { Handler } from '../handler.ts';
import { toReseller } from './reseller.ts';

export const updateReseller: Handler<'updateReseller'> = async ({ path, body, actor }, { resellers }) => {
  const reseller = await resellers.update(actor, path.reseller_id, {
    name: body.name,
    commissionMargin: body.commission_margin,
    suspended: body.suspended,
  });
  return { status: 200, body: { status: 'success', ...toReseller(reseller) } };
};
