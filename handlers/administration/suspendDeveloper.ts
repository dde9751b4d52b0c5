import type { Handler } from '../handler.ts';
import { toDeveloperAccount } from './developer.ts';

export const suspendDeveloper: Handler<'suspendDeveloper'> = async (
  { path, body, actor },
  { developerAccounts },
) => {
  const details = await developerAccounts.suspend(actor, path.developer_id, {
    reason: body?.reason ?? null,
    disableApplications: body?.disable_applications ?? false,
  });
  return { status: 200, body: toDeveloperAccount(details) };
};
