import { ApiError } from '../errors/api-error.ts';
import { applicationTopic, sessionTopic, userTopic } from '../events/topic-state.ts';
import type { Client } from '../platform/address.ts';
import { MqttRefusal, type Admission, type MqttPeer } from '../platform/mqtt/index.ts';
import type { SessionIdentity, Sessions } from '../sessions/sessions.ts';
import { tokenDigest } from '../tokens/tokens.ts';
import type { Listeners, SessionListener } from './listeners.ts';
import { eventJson } from './message.ts';
import type { Seats } from './seats.ts';

interface Dependencies {
  readonly sessions: Pick<Sessions, 'identify' | 'recheck'>;
  readonly listeners: Listeners;
  /** Room of each session. */
  readonly holders: Seats;
  readonly listenersASession: number;
}

/**
 * Lets MQTT clients in that show a session's token or id as their password. The user name may be anything but another
 * application's id.
 * @param client where the connection comes from
 */
export function createMqttAdmission(deps: Dependencies): (client: Client) => Admission {
  const { sessions, listeners, holders, listenersASession } = deps;

  async function identify(password: string | undefined, client: Client): Promise<SessionIdentity> {
    if (password === undefined || password === '') throw new MqttRefusal('notAuthorized');
    return sessions.identify(password, client);
  }

  return (client) =>
    async ({ username, password }, peer) => {
      const session = await identify(password, client).catch(refuse);
      if (username?.startsWith('app_') && username !== session.appId) throw new MqttRefusal('notAuthorized');
      const digest = session.sessionDigest;
      const giveBack = orRefuse(() => holders.take(digest.toString('hex'), listenersASession));
      const listener = createMqttListener(session, client, peer);
      const leave = listeners.addSession(listener);
      const closed = () => {
        leave();
        giveBack();
      };
      try {
        // What ended it before it was among the listeners, nobody has told it.
        await sessions.recheck(digest, client);
      } catch (error) {
        closed();
        refuse(error);
      }
      return { maySubscribe: listener.maySubscribe, closed };
    };
}

function createMqttListener(session: SessionIdentity, client: Client, peer: MqttPeer) {
  const { appId, userId, sessionDigest } = session;
  const topics: Record<'application' | 'user' | 'session', string | undefined> = {
    application: applicationTopic(appId),
    user: userTopic(appId, userId),
    // The client names it: it alone knows its session's id.
    session: undefined,
  };
  let isOver = false;

  /** An end takes a moment, in which nothing more is said. */
  function end(...reason: Parameters<MqttPeer['end']>): void {
    isOver = true;
    peer.end(...reason);
  }

  return {
    session,
    client,
    maySubscribe(topic: string): boolean {
      if (topic === topics.application || topic === topics.user) return true;
      const sessionId = topic.slice(topic.lastIndexOf('/') + 1);
      if (topic !== sessionTopic(appId, sessionId)) return false;
      if (!tokenDigest(sessionId).equals(sessionDigest)) return false;
      topics.session = topic;
      return true;
    },
    offer(event, isLast) {
      if (isOver) return;
      const topic = event.audience === 'developer' ? undefined : topics[event.audience];
      if (topic !== undefined) peer.send(topic, eventJson(event));
      if (isLast) end('administrativeAction');
    },
    finish(notice) {
      if (isOver) return;
      if (!notice) return end('serverShuttingDown');
      if (topics.session !== undefined) peer.send(topics.session, JSON.stringify(notice));
      end(notice.type === 'session.expired' ? 'maximumConnectTime' : 'notAuthorized');
    },
  } satisfies SessionListener & { maySubscribe(topic: string): boolean };
}

function orRefuse<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    return refuse(error);
  }
}

/** Only an answer about the session is a refusal of it. */
function refuse(error: unknown): never {
  if (error instanceof MqttRefusal) throw error;
  const answered = error instanceof ApiError && error.status < 500 && error.status !== 429;
  throw new MqttRefusal(answered ? 'notAuthorized' : 'unavailable');
}
