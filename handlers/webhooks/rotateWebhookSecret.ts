import type { Handler } from '../handler.ts';

export const rotateWebhookSecret: Handler<'rotateWebhookSecret'> = async (
  { path, body, actor },
  { webhooks },
) => {
  const { app_id, webhook_id } = path;
  const rotated = await webhooks.rotateSecret(actor, app_id, webhook_id, body.overlap_seconds);
  return {
    status: 200,
    body: {
      status: 'success',
      webhook_id,
      secret: rotated.secret,
      previous_secret_expires_at: rotated.previousSecretExpiresAt.toISOString(),
    },
  };
};
