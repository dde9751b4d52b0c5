import type { Handler } from '../handler.ts';
import { toResult, toSelection } from './selection.ts';

export const unbanLicenses: Handler<'unbanLicenses'> = async ({ path, body, actor }, { licenses }) => {
  const outcome = await licenses.changeMany(actor, path.app_id, 'unban', toSelection(body));
  return { status: 200, body: toResult(outcome, body) };
};
