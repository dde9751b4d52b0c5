import type { Handler } from '../handler.ts';
import { toDeveloperAccount } from './developer.ts';

export const reinstateDeveloper: Handler<'reinstateDeveloper'> = async (
  { path, actor },
  { developerAccounts },
) => {
  const details = await developerAccounts.reinstate(actor, path.developer_id);
  return { status: 200, body: toDeveloperAccount(details) };
};
