import type { Handler } from '../handler.ts';
import { toEvent } from './event.ts';

export const listEvents: Handler<'listEvents'> = async ({ path, query, actor }, { applications, events }) => {
  const { after, order = 'asc', limit, type, user_id: userId } = query;
  await applications.ofDeveloper(actor.developerId, path.app_id);
  const page = await events.list(path.app_id, { after, order, limit, userId, types: type?.split(',') });
  return {
    status: 200,
    body: {
      status: 'success',
      data: page.data.map(toEvent),
      last_event_id: page.lastEventId,
      has_more: page.hasMore,
    },
  };
};
