import type { Handler } from '../handler.ts';
import { toResult, toSelection } from './selection.ts';

export const resumeLicenses: Handler<'resumeLicenses'> = async ({ path, body, actor }, { licenses }) => {
  const outcome = await licenses.changeMany(actor, path.app_id, 'resume', toSelection(body));
  return { status: 200, body: toResult(outcome, body) };
};
