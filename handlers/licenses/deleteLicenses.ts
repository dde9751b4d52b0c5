import type { Handler } from '../handler.ts';
import { toResult, toSelection } from './selection.ts';

export const deleteLicenses: Handler<'deleteLicenses'> = async ({ path, body, actor }, { licenses }) => {
  const outcome = await licenses.changeMany(actor, path.app_id, 'delete', toSelection(body));
  return { status: 200, body: toResult(outcome, body) };
};
