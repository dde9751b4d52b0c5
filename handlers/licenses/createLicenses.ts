import type { Handler } from '../handler.ts';
import { toCreatedLicenses, toNewLicenses } from './license.ts';

export const createLicenses: Handler<'createLicenses'> = async ({ path, body, actor }, { licenses }) => {
  const made = await licenses.create(actor, path.app_id, toNewLicenses(body));
  return { status: 201, mediaType: 'application/json', stream: toCreatedLicenses(made) };
};
