import type { Handler } from '../handler.ts';

export const endSecretOverlap: Handler<'endSecretOverlap'> = async ({ path, actor }, { applications }) => {
  await applications.endSecretOverlap(actor, path.app_id);
  return { status: 200, body: { status: 'success', message: 'Previous secret ended.' } };
};
