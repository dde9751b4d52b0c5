import { attachment } from '../attachment.ts';
import type { Handler } from '../handler.ts';
import { toNewLicenses } from './license.ts';

export const createLicensesAsCsv: Handler<'createLicensesAsCsv'> = async (
  { path, body, actor },
  { licenses },
) => {
  const made = await licenses.create(actor, path.app_id, toNewLicenses(body));
  return attachment(201, 'licenses.csv', licenses.toCsv(made));
};
