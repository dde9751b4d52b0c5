import type { Handler } from '../handler.ts';

export const deleteReseller: Handler<'deleteReseller'> = async ({ path, actor }, { resellers }) => {
  await resellers.delete(actor, path.reseller_id);
  return { status: 200, body: { status: 'success', message: 'Reseller deleted.' } };
};
