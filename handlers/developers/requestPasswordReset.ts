import type { Handler } from '../handler.ts';

export const requestPasswordReset: Handler<'requestPasswordReset'> = async (
  { body, client },
  { developerPasswords },
) => {
  await developerPasswords.requestReset(body.email, client);
  return { status: 202, body: { status: 'success', message: 'The email is on its way.' } };
};
