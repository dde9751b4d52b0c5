import type { Handler } from '../handler.ts';
import { toVariable } from './variable.ts';

export const setVariable: Handler<'setVariable'> = async ({ path, body, actor }, { variables }) => {
  const variable = await variables.set(actor, path.app_id, path.name, body.value, body.visibility);
  return { status: 200, body: { status: 'success', ...toVariable(variable) } };
};
