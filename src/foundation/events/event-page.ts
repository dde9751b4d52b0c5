import { ApiError } from '../errors/api-error.ts';
import type { EventFilter } from './event-store.ts';
import type { PublishedEvent } from './published-event.ts';

export interface EventRequest extends EventFilter {
  /** The event to start after. */
  readonly after?: string | undefined;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

export interface EventPage {
  readonly data: readonly PublishedEvent[];
  /** What to pass as `after` to get the next page. */
  readonly lastEventId: string | null;
  readonly hasMore: boolean;
}

/**
 * Reads one page of events.
 * @param positionOf finds the position of the event to start after
 * @param read reads one event more than the page has
 * @throws ApiError EVENT_NOT_FOUND
 */
export async function readPage(
  { after, limit }: EventRequest,
  positionOf: (eventId: string) => Promise<number | undefined>,
  read: (position: number | undefined, limit: number) => Promise<PublishedEvent[]>,
): Promise<EventPage> {
  const position = after === undefined ? undefined : await positionOf(after);
  if (after !== undefined && position === undefined) throw new ApiError('EVENT_NOT_FOUND');
  const found = await read(position, limit + 1);
  const data = found.slice(0, limit);
  return { data, lastEventId: data.at(-1)?.eventId ?? after ?? null, hasMore: found.length > limit };
}
