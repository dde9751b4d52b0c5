import type { PublishedEvent } from '../events/events.ts';
import type { Logger } from '../platform/logger.ts';
import { createPace } from '../platform/pace.ts';
import type { Listeners } from './listeners.ts';

/** Few enough to be told in one go. */
const TOLD_AT_ONCE = 50;

/** Hands events out to many listeners without holding the event loop. */
export interface Announcements {
  /** Takes the next event. Those who listen now are told, after all events before it. */
  add(event: PublishedEvent): void;
}

/** @param onTold called for each event, in their order, once all its listeners have been told */
export function createAnnouncements(
  listeners: Pick<Listeners, 'concerned'>,
  onTold: (event: PublishedEvent) => void,
  logger: Logger,
): Announcements {
  /** Set while an event before is still being handed out. */
  let before: Promise<void> | undefined;

  return {
    add(event) {
      const tellings = listeners.concerned(event);
      if (!before && tellings.length <= TOLD_AT_ONCE) {
        for (const tell of tellings) tell();
        return onTold(event);
      }
      const telling: Promise<void> = tellAll(before, tellings)
        .then(() => onTold(event))
        .catch((error: unknown) => {
          logger.error({ err: error, event: event.eventId }, 'an event could not be handed out');
        })
        .finally(() => {
          if (before === telling) before = undefined;
        });
      before = telling;
    },
  };
}

async function tellAll(before: Promise<void> | undefined, tellings: readonly (() => void)[]): Promise<void> {
  await before;
  const pace = createPace();
  for (const tell of tellings) {
    tell();
    await pace();
  }
}
