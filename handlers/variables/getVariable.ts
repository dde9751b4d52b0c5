import type { Handler } from '../handler.ts';
import { toVariable } from './variable.ts';

export const getVariable: Handler<'getVariable'> = async ({ path, actor }, { variables }) => {
  const variable = await variables.get(actor.developerId, path.app_id, path.name);
  return { status: 200, body: { status: 'success', ...toVariable(variable) } };
};
