import type { Handler } from '../handler.ts';

export const streamEvents: Handler<'streamEvents'> = async (request, { realtime }) => {
  const { path, query, headers, actor, isStillAllowed } = request;
  const stream = await realtime.streamOfApplication(actor, path.app_id, {
    types: query.type?.split(','),
    lastEventId: headers['last-event-id'],
    isStillAllowed,
  });
  return { status: 200, mediaType: 'text/event-stream', headers: { 'X-Accel-Buffering': 'no' }, stream };
};
