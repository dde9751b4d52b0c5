import type { components } from '../../generated/types.ts';
import type { PublishedEvent } from '../../src/foundation/events/events.ts';

/** An event as the contract shows it. */
export function toEvent(event: PublishedEvent): components['schemas']['ApplicationEvent'] {
  return {
    id: event.eventId,
    type: event.type,
    timestamp: event.createdAt.toISOString(),
    app_id: event.appId,
    user_id: event.userId,
    data: { ...event.data },
  };
}
