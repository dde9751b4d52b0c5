import type { Handler } from '../handler.ts';

export const endDeveloperSessions: Handler<'endDeveloperSessions'> = async (
  { actor },
  { developerPasswords },
) => {
  const ended = await developerPasswords.endOtherSessions(actor);
  return { status: 200, body: { status: 'success', message: 'Sessions ended.', ended } };
};
