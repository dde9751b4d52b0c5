import type { Handler } from '../handler.ts';

export const deleteVariable: Handler<'deleteVariable'> = async ({ path, actor }, { variables }) => {
  await variables.delete(actor, path.app_id, path.name);
  return { status: 200, body: { status: 'success', message: 'Variable deleted.' } };
};
