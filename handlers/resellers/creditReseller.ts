import type { Handler } from '../handler.ts';
import { toLedgerEntry } from './reseller.ts';

export const creditReseller: Handler<'creditReseller'> = async ({ path, body, actor }, { resellers }) => {
  const entry = await resellers.credit(actor, path.reseller_id, body.amount, body.note ?? null);
  return { status: 201, body: { status: 'success', ...toLedgerEntry(entry) } };
};
