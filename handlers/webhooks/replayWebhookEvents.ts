import type { Handler } from '../handler.ts';

export const replayWebhookEvents: Handler<'replayWebhookEvents'> = async (
  { path, body, actor },
  { webhooks },
) => {
  const { replayed, nextCursor } = await webhooks.replayEvents(actor, path.app_id, path.webhook_id, {
    since: new Date(body.since),
    until: body.until === undefined ? undefined : new Date(body.until),
    cursor: body.cursor,
  });
  return { status: 202, body: { status: 'success', replayed, next_cursor: nextCursor } };
};
