import type { Handler } from '../handler.ts';
import { toUserVariable } from './variable.ts';

export const setUserVariable: Handler<'setUserVariable'> = async ({ path, body, actor }, { variables }) => {
  const variable = await variables.setOfUser(actor, path.app_id, path.user_id, path.name, body.value);
  return { status: 200, body: { status: 'success', ...toUserVariable(variable) } };
};
