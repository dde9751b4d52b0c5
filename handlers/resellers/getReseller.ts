import type { Handler } from '../handler.ts';
import { toReseller } from './reseller.ts';

export const getReseller: Handler<'getReseller'> = async ({ path, actor }, { resellers }) => {
  const reseller = await resellers.get(actor.developerId, path.reseller_id);
  return { status: 200, body: { status: 'success', ...toReseller(reseller) } };
};
