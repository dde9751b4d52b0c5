import type { Knex } from 'knex';
import type { Events, PublishedEvent } from '../../foundation/events/events.ts';
import { isUnavailable } from '../../platform/database/index.ts';
import type { Logger } from '../../platform/logger.ts';
import { startPeriodicTask } from '../../platform/periodic-task.ts';

const NUMBERED_AT_ONCE = 500;
const READ_AT_ONCE = 500;
/**
 * A single event is numbered at once. Many events are collected for this long and numbered together, which costs less.
 */
const NUMBERING_REST_MS = 20;

/** Receives the published events on this node, in order. */
export type Follower = (event: PublishedEvent) => void;

/** Work that must happen exactly once for each event, in the transaction that publishes it. */
export type Consumer = (trx: Knex.Transaction, events: readonly PublishedEvent[]) => Promise<void>;

/** Passes events from the outbox to all consumers. */
export interface Relay {
  /** Calls the follower for every event published from this point. @returns removes the follower */
  follow(follower: Follower): () => void;
  /** The position of the latest event that followers received. */
  position(): number;
  /** Starts. @returns stops it once the work in progress is done */
  start(): Promise<{ stop(): Promise<void> }>;
}

interface Dependencies {
  readonly events: Events;
  readonly listen: (
    channels: readonly string[],
    onNotification: (channel: string, payload?: string) => void,
  ) => { close(): Promise<void> };
  readonly consumers: readonly Consumer[];
  readonly logger: Logger;
}

/**
 * One node at a time numbers new events in the outbox, and every node reads the numbered ones. The database wakes them
 * up; if it fails to, they check again after a second.
 */
export function createRelay({ events, listen, consumers, logger }: Dependencies): Relay {
  const followers = new Set<Follower>();
  let position = 0;

  async function number(): Promise<boolean> {
    const { published, more } = await events.number(async (trx, batch) => {
      for (const consume of consumers) await consume(trx, batch);
    }, NUMBERED_AT_ONCE);
    // Events numbered on this node need not be read, unless another node numbered some before them.
    if (published[0]?.position === position + 1) notifyFollowers(published);
    return more;
  }

  async function read(): Promise<boolean> {
    const published = await events.after(position, READ_AT_ONCE);
    notifyFollowers(published);
    return published.length > 0;
  }

  function notifyFollowers(published: readonly PublishedEvent[]): void {
    for (const event of published) {
      if (event.position <= position) continue;
      position = event.position;
      for (const follower of followers) {
        try {
          follower(event);
        } catch (error) {
          logger.error({ err: error, event: event.eventId }, 'a follower of events failed');
        }
      }
    }
  }

  /** An error other than an unavailable database may block every event. */
  const logFailureOf = (task: 'numbering' | 'reading') => (error: unknown) => {
    if (isUnavailable(error)) logger.debug({ err: error, task }, 'events wait for the database');
    else logger.error({ err: error, task }, 'events could not be passed on and are tried again');
  };

  return {
    follow(follower) {
      followers.add(follower);
      return () => void followers.delete(follower);
    },

    position: () => position,

    async start() {
      position = await events.lastPosition();
      const numbering = startPeriodicTask(number, logFailureOf('numbering'), {
        minPauseMs: NUMBERING_REST_MS,
      });
      const reading = startPeriodicTask(read, logFailureOf('reading'));
      const listener = listen(['latchkey_outbox', 'latchkey_log'], (channel, payload) => {
        if (channel === 'latchkey_outbox') return numbering.wake();
        // The payload is the last number; it may be from this node itself.
        if (!payload || Number(payload) > position) reading.wake();
      });
      return {
        async stop() {
          await listener.close();
          await Promise.all([numbering.stop(), reading.stop()]);
        },
      };
    },
  };
}
