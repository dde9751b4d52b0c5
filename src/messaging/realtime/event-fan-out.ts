import type { PublishedEvent } from '../../foundation/events/events.ts';
import type { Logger } from '../../platform/logger.ts';
import { CHUNK_SIZE, createForEachInChunks } from '../../platform/chunks.ts';
import type { SessionRechecks } from './session-rechecks.ts';
import type { Listener, Listeners, Recipients } from './listeners.ts';

interface Dependencies {
  readonly listeners: Pick<Listeners, 'recipientsOf'>;
  readonly rechecks: Pick<SessionRechecks, 'schedule' | 'scheduleAll' | 'affectsAll' | 'deliverAndRecheck'>;
  readonly logger: Logger;
}

/** Delivers events to many listeners without blocking the event loop. */
export interface EventFanOut {
  /** Delivers an event to the current listeners, after all earlier events of its application. */
  deliver(event: PublishedEvent): void;
}

export function createEventFanOut({ listeners, rechecks, logger }: Dependencies): EventFanOut {
  const forEachInChunks = createForEachInChunks();
  /** The deliveries in progress, by application: no event waits for those of another application. */
  const pending = new Map<string, Promise<void>>();
  let deliveredInThisIteration = 0;

  /** Events with few recipients are delivered at once, unless many of them arrive together. */
  function mayDeliverNow({ sessions, developers }: Recipients): boolean {
    const count = sessions.length + developers.length;
    if (count === 0) return true;
    if (deliveredInThisIteration === 0) setImmediate(() => (deliveredInThisIteration = 0));
    deliveredInThisIteration += count;
    return deliveredInThisIteration <= CHUNK_SIZE;
  }

  async function deliverAfter(
    earlier: Promise<void> | undefined,
    event: PublishedEvent,
    recipients: Recipients,
  ): Promise<void> {
    await earlier;
    const { sessions, developers, endsSessions, endsAll } = recipients;
    await forEachInChunks(developers, (listener) => listener.offer(event, endsAll));
    const offer = (listener: Listener) => listener.offer(event, endsSessions);
    const affectsAll = !endsSessions && rechecks.affectsAll(event);
    // In a quick succession of events, the sessions are rechecked once after all of them instead of once for each.
    const rechecksNow = affectsAll && !earlier && sessions.length > 0;
    if (rechecksNow) await rechecks.deliverAndRecheck(sessions, offer);
    else await forEachInChunks(sessions, offer);
    if (affectsAll && !rechecksNow) rechecks.scheduleAll(event);
    rechecks.schedule(event);
  }

  return {
    deliver(event) {
      const recipients = listeners.recipientsOf(event);
      const { sessions, developers, endsSessions, endsAll } = recipients;
      const earlier = pending.get(event.appId);
      if (!earlier && !rechecks.affectsAll(event) && mayDeliverNow(recipients)) {
        for (const listener of sessions) listener.offer(event, endsSessions);
        for (const listener of developers) listener.offer(event, endsAll);
        return rechecks.schedule(event);
      }
      const delivery: Promise<void> = deliverAfter(earlier, event, recipients)
        .catch((error: unknown) => {
          logger.error({ err: error, event: event.eventId }, 'an event could not be delivered to listeners');
        })
        .finally(() => {
          if (pending.get(event.appId) === delivery) pending.delete(event.appId);
        });
      pending.set(event.appId, delivery);
    },
  };
}
