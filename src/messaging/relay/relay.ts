import type { Knex } from 'knex';
import type { Events, PublishedEvent } from '../../foundation/events/events.ts';
import { isUnavailable } from '../../platform/database/index.ts';
import type { Logger } from '../../platform/logger.ts';
import { startPeriodicTask } from '../../platform/periodic-task.ts';

const NUMBERED_AT_ONCE = 500;
const READ_AT_ONCE = 500;
/** One event comes at once; of many, those of so long come together, which costs less than one by one. */
const NUMBERING_REST_MS = 20;

/** Follows the published events on this node, in their order. */
export type Follower = (event: PublishedEvent) => void;

/** What must happen exactly once for each event, in the transaction that publishes it. */
export type Consumer = (trx: Knex.Transaction, events: readonly PublishedEvent[]) => Promise<void>;

/** Takes events from the outbox to everybody who wants them. */
export interface Relay {
  /** Calls the follower for every event that is published from now on. @returns ends that */
  follow(follower: Follower): () => void;
  /** The place of the event that followers got last. */
  position(): number;
  /** Begins. @returns stops it, when what is under way is done */
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
 * Every node numbers, one at a time, what was written to the outbox, and every node reads what was numbered. The database
 * wakes them; should it forget to, they look by themselves after a second.
 */
export function createRelay({ events, listen, consumers, logger }: Dependencies): Relay {
  const followers = new Set<Follower>();
  let position = 0;

  async function number(): Promise<boolean> {
    const { published, more } = await events.number(async (trx, batch) => {
      for (const consume of consumers) await consume(trx, batch);
    }, NUMBERED_AT_ONCE);
    // What this node has numbered it need not read, unless another one has numbered something before.
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

  return {
    follow(follower) {
      followers.add(follower);
      return () => void followers.delete(follower);
    },

    position: () => position,

    async start() {
      position = await events.lastPosition();
      // What the loss of the database does not explain may hold up every event.
      const put = (what: string) => (error: unknown) =>
        logger[isUnavailable(error) ? 'debug' : 'error']({ err: error }, `${what} was put off`);
      const numbering = startPeriodicTask(number, put('the numbering of events'), {
        minPauseMs: NUMBERING_REST_MS,
      });
      const reading = startPeriodicTask(read, put('the reading of events'));
      const listener = listen(['latchkey_outbox', 'latchkey_log'], (channel, payload) => {
        if (channel === 'latchkey_outbox') return numbering.wake();
        // It says how far events are numbered; it may be this node that has numbered them.
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
