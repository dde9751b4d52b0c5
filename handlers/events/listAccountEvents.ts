import type { Handler } from '../handler.ts';
import { toEvent } from './event.ts';

export const listAccountEvents: Handler<'listAccountEvents'> = async (
  { query, actor },
  { applications, events },
) => {
  const { after, order = 'asc', limit, type, app_id: appId, user_id: userId } = query;
  const appIds = await applications.idsWithDeleted(actor.developerId);
  const filter = { types: type?.split(','), appId, userId };
  const page = await events.listOfAll(appIds, { after, order, limit, ...filter });
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
