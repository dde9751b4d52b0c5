import type { Events, PublishedEvent, ConsumedEvents } from '../../foundation/events/events.ts';
import { toMessage } from '../../foundation/events/events.ts';
import { applicationTopic, sessionTopic, userTopic } from '../../foundation/events/topic-state.ts';
import type { Broker } from '../../platform/broker/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Sessions } from '../../licensing/sessions/sessions.ts';
import { startPeriodicTask } from '../../platform/periodic-task.ts';
import { isRowFault, reasonOf } from '../../platform/row-fault.ts';
import type { Relay } from './relay.ts';

const READ_AT_ONCE = 100;
const TOPICS_AT_ONCE = 20;
/** Less than the 10 s after which the database ends an idle transaction. */
const WITHIN_MS = 4_000;
/** How often in a row a responding broker may refuse an event before it is set aside. */
const REFUSALS = 5;

interface Dependencies {
  readonly events: Pick<Events, 'forBroker'>;
  readonly sessions: Pick<Sessions, 'idsOf'>;
  readonly relay: Pick<Relay, 'follow'>;
  readonly broker: Broker;
  readonly logger: Logger;
}

/**
 * Publishes every event for sessions to an external broker: at least once, in order on each topic, by one node at a
 * time. While the broker is unavailable, events wait in the database and use no memory.
 */
export interface BrokerFeed {
  /**
   * Starts. All events published from this point go to the broker. @returns stops it once the work in progress is done
   */
  start(): Promise<{ stop(): Promise<void> }>;
}

export function createBrokerFeed({ events, sessions, relay, broker, logger }: Dependencies): BrokerFeed {
  /** The event that the broker refused last, and how often in a row. */
  let failing:
    { readonly eventId: string; readonly count: number; readonly takesOthers: boolean } | undefined;

  /**
   * Whether the broker refuses this event in particular, repeatedly, while it accepts others and responds. If it
   * accepts none, it refuses the service itself, and events wait until that is fixed.
   */
  async function isRefused({ eventId }: PublishedEvent, takesOthers: boolean): Promise<boolean> {
    const before = failing?.eventId === eventId ? failing : { count: 0, takesOthers: false };
    failing = { eventId, count: before.count + 1, takesOthers: before.takesOthers || takesOthers };
    if (failing.count < REFUSALS || !failing.takesOthers) return false;
    return broker.ping().then(
      () => true,
      () => false,
    );
  }

  /** An event about a session whose id was not kept has no topic: no client can have subscribed to it. */
  async function withTopics(published: readonly PublishedEvent[]) {
    const digests = published.flatMap(({ audience, sessionDigest }) =>
      audience === 'session' && sessionDigest ? [sessionDigest] : [],
    );
    const ids = await sessions.idsOf(digests);
    return published.map((event) => ({ event, topic: topicOf(event, ids) }));
  }

  /** @returns how many events, counted from the first one, the broker has or cannot accept */
  async function publish(published: readonly PublishedEvent[]): Promise<ConsumedEvents> {
    const over = AbortSignal.timeout(WITHIN_MS);
    const lanes = new Map<string, number[]>();
    const addressed = await withTopics(published);
    const done = addressed.map(({ topic }) => topic === undefined);
    addressed.forEach(({ topic }, place) => {
      if (topic !== undefined) lanes.set(topic, [...(lanes.get(topic) ?? []), place]);
    });
    let failed: { readonly error: unknown; readonly event: PublishedEvent } | undefined;
    let takesOthers = false;
    const refused = new Map<string, string>();
    const setAside = (event: PublishedEvent, reason: string) => {
      refused.set(event.eventId, reason);
      const { eventId: event_id, appId: app_id } = event;
      logger.error(
        { event_id, app_id, fault: reason },
        'an event cannot be sent to the broker and is set aside',
      );
    };
    const waiting = [...lanes];
    const worker = async () => {
      for (let lane = waiting.shift(); lane; lane = waiting.shift()) {
        const [topic, places] = lane;
        for (const place of places) {
          if (over.aborted || failed !== undefined) return;
          const { event } = addressed[place]!;
          try {
            await broker.publish(topic, JSON.stringify(toMessage(event)));
            takesOthers = true;
          } catch (error) {
            if (isRowFault(error)) setAside(event, reasonOf(error));
            else {
              failed ??= { error, event };
              return;
            }
          }
          done[place] = true;
        }
      }
    };
    await Promise.all(Array.from({ length: TOPICS_AT_ONCE }, worker));
    if (failed) {
      logger.debug({ err: failed.error }, 'events wait for the broker');
      if (await isRefused(failed.event, takesOthers)) {
        setAside(failed.event, `the broker refused it ${REFUSALS} times`);
        done[published.indexOf(failed.event)] = true;
      }
    }
    const first = done.indexOf(false);
    return { done: first < 0 ? done.length : first, refused };
  }

  return {
    async start() {
      // Records where the first node with a broker starts, before it takes requests.
      await events.forBroker(async () => ({ done: 0 }), 1);
      const feeding = startPeriodicTask(
        () => events.forBroker(publish, READ_AT_ONCE),
        (error) => logger.debug({ err: error }, 'the publishing of events failed and will be retried'),
      );
      const unfollow = relay.follow(() => feeding.wake());
      return {
        async stop() {
          unfollow();
          await feeding.stop();
        },
      };
    },
  };
}

function topicOf(
  { audience, appId, userId, sessionDigest }: PublishedEvent,
  sessionIds: ReadonlyMap<string, string>,
): string | undefined {
  if (audience === 'application') return applicationTopic(appId);
  if (audience === 'user' && userId !== null) return userTopic(appId, userId);
  const sessionId = audience === 'session' && sessionIds.get(sessionDigest?.toString('hex') ?? '');
  return sessionId ? sessionTopic(appId, sessionId) : undefined;
}
