import type { Knex } from 'knex';
import * as store from './account-event-store.ts';
import { readPage, type EventPage, type EventRequest } from './event-page.ts';
import { readEvents, type EventFilter } from './event-store.ts';
import { isEventType } from './event-types.ts';
import { toPublished, type PublishedEvent } from './published-event.ts';

/** The events of all applications of a developer. */
export interface AccountEvents {
  /** Published events of some applications after a position, in the order of the range. */
  ofApplications(
    appIds: readonly string[],
    filter: EventFilter,
    range: store.BoundedRange,
  ): Promise<PublishedEvent[]>;
  /** The position of a published event of one of some applications; undefined when it does not exist. */
  positionOfAny(appIds: readonly string[], eventId: string): Promise<number | undefined>;
  /**
   * Lists events of all applications of a developer.
   * @param appIds those applications
   * @throws ApiError EVENT_NOT_FOUND
   */
  listOfAll(
    appIds: readonly string[],
    request: EventRequest & { readonly appId?: string | undefined },
  ): Promise<EventPage>;
}

export function createAccountEvents(knex: Knex): AccountEvents {
  const ofApplications: AccountEvents['ofApplications'] = async (appIds, { types, userId }, range) => {
    // Each type costs a step in an index for each application.
    const filter = { types: types?.filter(isEventType), userId };
    return (await store.listEventsOfApplications(knex, readEvents, appIds, filter, range)).map(toPublished);
  };

  const positionOfAny: AccountEvents['positionOfAny'] = (appIds, eventId) =>
    store.findPositionOfAny(knex, appIds, eventId);

  return {
    ofApplications,
    positionOfAny,

    listOfAll(appIds, request) {
      const { appId: wanted, order } = request;
      const among = wanted === undefined ? appIds : appIds.filter((appId) => appId === wanted);
      return readPage(
        request,
        (eventId) => positionOfAny(appIds, eventId),
        (position, limit) => ofApplications(among, request, { position, order, limit }),
      );
    },
  };
}
