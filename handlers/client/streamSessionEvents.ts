import type { Handler } from '../handler.ts';

export const streamSessionEvents: Handler<'streamSessionEvents'> = async (
  { headers, client, session },
  { realtime },
) => {
  const stream = await realtime.streamOfSession(session!, client, headers['last-event-id']);
  return { status: 200, mediaType: 'text/event-stream', headers: { 'X-Accel-Buffering': 'no' }, stream };
};
