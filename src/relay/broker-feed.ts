import type { Events, PublishedEvent } from '../events/events.ts';
import { toMessage } from '../events/events.ts';
import { applicationTopic, sessionTopic, userTopic } from '../events/topic-state.ts';
import type { Broker } from '../platform/broker/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { repeatedly } from '../platform/repeatedly.ts';
import type { Relay } from './relay.ts';

const READ_AT_ONCE = 100;
const TOPICS_AT_ONCE = 20;
/** The database ends a transaction that has nothing to do for 10 s. */
const WITHIN_MS = 4_000;

interface Dependencies {
  readonly events: Pick<Events, 'forBroker'>;
  readonly sessions: Pick<Sessions, 'idsOf'>;
  readonly relay: Pick<Relay, 'follow'>;
  readonly broker: Broker;
  readonly logger: Logger;
}

/**
 * Publishes every event that tells sessions to a broker outside: at least once, in order on each topic, by one node at a
 * time. While the broker is away, events wait in the database and nothing in memory.
 */
export interface BrokerFeed {
  /** Begins: whatever is published from now on goes to the broker. @returns stops it, when what is under way is done */
  start(): Promise<{ stop(): Promise<void> }>;
}

export function createBrokerFeed({ events, sessions, relay, broker, logger }: Dependencies): BrokerFeed {
  /** An event about a session whose id was not kept has no topic: nobody can have subscribed by it. */
  async function withTopics(published: readonly PublishedEvent[]) {
    const digests = published.flatMap(({ audience, sessionDigest }) =>
      audience === 'session' && sessionDigest ? [sessionDigest] : [],
    );
    const ids = await sessions.idsOf(digests);
    return published.map((event) => ({ event, topic: topicOf(event, ids) }));
  }

  /** @returns how many events, from the first one on, the broker has */
  async function publish(published: readonly PublishedEvent[]): Promise<number> {
    const over = AbortSignal.timeout(WITHIN_MS);
    const lanes = new Map<string, number[]>();
    const addressed = await withTopics(published);
    const done = addressed.map(({ topic }) => topic === undefined);
    addressed.forEach(({ topic }, place) => {
      if (topic !== undefined) lanes.set(topic, [...(lanes.get(topic) ?? []), place]);
    });
    let failed: unknown;
    const waiting = [...lanes];
    const worker = async () => {
      for (let lane = waiting.shift(); lane; lane = waiting.shift()) {
        const [topic, places] = lane;
        for (const place of places) {
          if (over.aborted || failed !== undefined) return;
          await broker.publish(topic, JSON.stringify(toMessage(addressed[place]!.event)));
          done[place] = true;
        }
      }
    };
    const workers = Array.from({ length: TOPICS_AT_ONCE }, () =>
      worker().catch((error: unknown) => (failed ??= error)),
    );
    await Promise.all(workers);
    if (failed !== undefined) logger.debug({ err: failed }, 'events wait for the broker');
    const first = done.indexOf(false);
    return first < 0 ? done.length : first;
  }

  return {
    async start() {
      // Notes where the first node that has a broker begins, before it takes requests.
      await events.forBroker(async () => 0, 1);
      const feeding = repeatedly(
        () => events.forBroker(publish, READ_AT_ONCE),
        (error) => logger.debug({ err: error }, 'the publishing of events was put off'),
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
