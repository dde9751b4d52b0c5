import type { Handler } from '../handler.ts';
import { toReseller } from './reseller.ts';

export const createReseller: Handler<'createReseller'> = async ({ body, actor }, { resellers }) => {
  const reseller = await resellers.create(actor, {
    name: body.name,
    currency: body.currency,
    commissionMargin: body.commission_margin ?? 0,
  });
  return { status: 201, body: { status: 'success', ...toReseller(reseller) } };
};
