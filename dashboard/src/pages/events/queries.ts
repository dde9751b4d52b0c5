import { queryOptions } from '@tanstack/react-query';
import { call, type Schemas } from '../../api/client.ts';
import type { EventType } from '../../lib/event-types.ts';

export type Event = Schemas['ApplicationEvent'];

/** Which events a list has. */
export interface EventFilter {
  readonly types?: readonly EventType[] | undefined;
  readonly userId?: string | undefined;
  /** Of the account's list only. */
  readonly appId?: string | undefined;
}

/** The events of an application, or of the account if it is undefined. */
export type EventScope = string | undefined;

interface Range {
  readonly order: Schemas['EventOrder'];
  readonly after?: string | undefined;
  readonly limit: number;
}

export const eventsKey = (scope: EventScope) =>
  scope === undefined ? ['events'] : ['application', scope, 'events'];

export function readEvents(scope: EventScope, filter: EventFilter, range: Range, signal: AbortSignal) {
  const { types, userId, appId } = filter;
  const { order, after, limit } = range;
  const query = {
    order,
    limit,
    ...(after && { after }),
    ...(types && { type: types.join(',') }),
    ...(userId && { user_id: userId }),
  };
  return scope === undefined
    ? call('GET /api/v2/dev/events', { query: { ...query, ...(appId && { app_id: appId }) }, signal })
    : call('GET /api/v2/dev/apps/{app_id}/events', { path: { app_id: scope }, query, signal });
}

/** Whether an event that has just happened belongs to the list. */
export function matches(
  event: Event,
  scope: EventScope,
  { types, userId, appId = scope }: EventFilter,
): boolean {
  if (appId !== undefined && event.app_id !== appId) return false;
  if (userId !== undefined && event.user_id !== userId) return false;
  return types === undefined || types.some((type) => type === event.type);
}

/**
 * One event, for a link to it. The contract lists events before and after another one, so the event is the one that
 * follows the one before it.
 */
export const eventQuery = (scope: EventScope, eventId: string) =>
  queryOptions({
    queryKey: [...eventsKey(scope), 'one', eventId],
    queryFn: async ({ signal }) => {
      const before = await readEvents(scope, {}, { order: 'desc', after: eventId, limit: 1 }, signal);
      const after = before.data[0]?.id;
      const found = await readEvents(scope, {}, { order: 'asc', after, limit: 1 }, signal);
      return found.data.find(({ id }) => id === eventId) ?? null;
    },
    staleTime: Infinity,
  });
