import type { PublishedEvent } from '../events/events.ts';
import type { Logger } from '../platform/logger.ts';
import { createSlices, SLICE } from '../platform/slices.ts';
import type { Doubts } from './doubts.ts';
import type { Concerned, Listener, Listeners } from './listeners.ts';

interface Dependencies {
  readonly listeners: Pick<Listeners, 'concerned'>;
  readonly doubts: Pick<Doubts, 'note' | 'noteAll' | 'isAboutAll' | 'tellAll'>;
  readonly logger: Logger;
}

/** Hands events out to many listeners without holding the event loop. */
export interface Announcements {
  /** Takes the next event. Those who listen now are told, after all events of the application before it. */
  add(event: PublishedEvent): void;
}

export function createAnnouncements({ listeners, doubts, logger }: Dependencies): Announcements {
  const inSlices = createSlices();
  /** By application, while an event of it is still being handed out: none waits for those of another one. */
  const underWay = new Map<string, Promise<void>>();
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
    const isAboutAll = !endsSessions && doubts.isAboutAll(event);
    // Where events follow each other quickly, the sessions are asked about once behind them instead of once for each.
    const tellsOutcome = isAboutAll && !earlier && sessions.length > 0;
    if (tellsOutcome) await doubts.tellAll(sessions, tell);
    else await inSlices(sessions, tell);
    if (isAboutAll && !tellsOutcome) doubts.noteAll(event);
    doubts.note(event);
  }

  return {
    add(event) {
      const concerned = listeners.concerned(event);
      const { sessions, developers, endsSessions, endsAll } = concerned;
      const before = underWay.get(event.appId);
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
          if (underWay.get(event.appId) === telling) underWay.delete(event.appId);
        });
      underWay.set(event.appId, telling);
    },
  };
}
