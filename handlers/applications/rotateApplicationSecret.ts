import type { Handler } from '../handler.ts';

const DAY_S = 86_400;

export const rotateApplicationSecret: Handler<'rotateApplicationSecret'> = async (
  { path, body, actor },
  { applications },
) => {
  const { overlap_seconds: overlap = DAY_S } = body;
  const { secret, previousSecretUntil } = await applications.rotateSecret(actor, path.app_id, overlap);
  return {
    status: 200,
    body: {
      status: 'success',
      app_id: path.app_id,
      secret,
      previous_secret_until: previousSecretUntil?.toISOString() ?? null,
    },
  };
};
