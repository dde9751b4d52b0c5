import type { Handler } from '../handler.ts';

export const listKeyStatements: Handler<'listKeyStatements'> = async (
  { path, trust },
  { applications, applicationKeys },
) => {
  const { appId } = await applications.usable(path.app_id, trust);
  const data = [...(await applicationKeys.statements(appId))];
  return { status: 200, body: { status: 'success', data } };
};
