import type { Handler } from '../handler.ts';

const DEFAULT_DAYS = 30;

export const getExpirations: Handler<'getExpirations'> = async (
  { path, query, actor },
  { userDirectory },
) => {
  const { days: amount = DEFAULT_DAYS } = query;
  const { days, counts } = await userDirectory.expirations(actor.developerId, path.app_id, amount);
  return { status: 200, body: { status: 'success', days: [...days], counts: [...counts] } };
};
