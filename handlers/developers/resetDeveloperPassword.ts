import type { Handler } from '../handler.ts';

export const resetDeveloperPassword: Handler<'resetDeveloperPassword'> = async (
  { body, client },
  { developerPasswords },
) => {
  await developerPasswords.reset(body.token, body.password, body.end_access, client);
  return { status: 200, body: { status: 'success', message: 'Password set.' } };
};
