import type { Handler } from '../handler.ts';

export const changeDeveloperPassword: Handler<'changeDeveloperPassword'> = async (
  { actor, body },
  { developerPasswords },
) => {
  const { password, new_password } = body;
  await developerPasswords.change(actor, { current: password, next: new_password });
  return { status: 200, body: { status: 'success', message: 'Password set.' } };
};
