import type { PublishedEvent } from '../events/events.ts';
import type { Logger } from '../platform/logger.ts';
import { createSlices, SLICE } from '../platform/slices.ts';
import type { Doubts } from './doubts.ts';
import type { Concerned, Listener, Listeners } from './listeners.ts';

interface Dependencies {
  readonly listeners: Pick<Listeners, 'concerned'>;
  readonly doubts: Pick<Doubts, 'note' | 'isAboutAll' | 'tellAll'>;
  readonly logger: Logger;
}

/** Hands events out to many listeners without holding the event loop. */
export interface Announcements {
  /** Takes the next event. Those who listen now are told, after all events before it. */
  add(event: PublishedEvent): void;
}

export function createAnnouncements({ listeners, doubts, logger }: Dependencies): Announcements {
  const inSlices = createSlices();
  /** Set while an event before is still being handed out. */
  let before: Promise<void> | undefined;
  let toldInThisTurn = 0;

  /** Few are told at once, unless many events that each tell few come together. */
  function mayTellNow({ sessions, developers }: Concerned): boolean {
    const amount = sessions.length + developers.length;
    if (amount === 0) return true;
    if (toldInThisTurn === 0) setImmediate(() => (toldInThisTurn = 0));
    toldInThisTurn += amount;
    return toldInThisTurn <= SLICE;
  }

  async function tellBehind(
    earlier: Promise<void> | undefined,
    event: PublishedEvent,
    concerned: Concerned,
  ): Promise<void> {
    await earlier;
    const { sessions, developers, endsSessions, endsAll } = concerned;
    await inSlices(developers, (listener) => listener.offer(event, endsAll));
    const tell = (listener: Listener) => listener.offer(event, endsSessions);
    if (!endsSessions && doubts.isAboutAll(event)) await doubts.tellAll(sessions, tell);
    else await inSlices(sessions, tell);
    doubts.note(event);
  }

  return {
    add(event) {
      const concerned = listeners.concerned(event);
      const { sessions, developers, endsSessions, endsAll } = concerned;
      if (!before && !doubts.isAboutAll(event) && mayTellNow(concerned)) {
        for (const listener of sessions) listener.offer(event, endsSessions);
        for (const listener of developers) listener.offer(event, endsAll);
        return doubts.note(event);
      }
      const telling: Promise<void> = tellBehind(before, event, concerned)
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
