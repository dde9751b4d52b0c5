import type { Handler } from '../handler.ts';
import { toApplication } from './application.ts';

export const getApplication: Handler<'getApplication'> = async ({ path, actor }, { applications }) => {
  const application = await applications.ofDeveloper(actor.developerId, path.app_id);
  return { status: 200, body: { status: 'success', ...toApplication(application) } };
};
