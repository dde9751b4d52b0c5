import type { Handler } from '../handler.ts';

export const streamAccountEvents: Handler<'streamAccountEvents'> = async (request, { realtime }) => {
  const { query, headers, actor, isStillAllowed } = request;
  const stream = await realtime.streamOfAccount(actor, {
    types: query.type?.split(','),
    appId: query.app_id,
    userId: query.user_id,
    lastEventId: headers['last-event-id'],
    isStillAllowed,
  });
  return { status: 200, mediaType: 'text/event-stream', headers: { 'X-Accel-Buffering': 'no' }, stream };
};
