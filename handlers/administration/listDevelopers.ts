import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toAdminDeveloper } from './developer.ts';

export const listDevelopers: Handler<'listDevelopers'> = async ({ query }, { developers }) => {
  const { q, plan_id: planId, suspended, limit, cursor } = query;
  const page = await developers.directory.list({ q, planId, suspended }, { limit, cursor });
  return toPage(page, toAdminDeveloper);
};
