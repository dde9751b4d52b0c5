import type { Handler } from '../handler.ts';
import { toDeveloperAccount } from './developer.ts';

export const getDeveloperAccount: Handler<'getDeveloperAccount'> = async (
  { path },
  { developerAccounts },
) => {
  const details = await developerAccounts.get(path.developer_id);
  return { status: 200, body: toDeveloperAccount(details) };
};
