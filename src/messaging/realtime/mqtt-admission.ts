import { ApiError } from '../../foundation/errors/api-error.ts';
import { applicationTopic, sessionTopic, userTopic } from '../../foundation/events/topic-state.ts';
import type { Client } from '../../platform/address.ts';
import { MqttRefusal, type Admission, type MqttPeer } from '../../platform/mqtt/index.ts';
import type { SessionIdentity, Sessions } from '../../licensing/sessions/sessions.ts';
import { tokenDigest } from '../../foundation/tokens/tokens.ts';
import type { Listeners, SessionListener } from './listeners.ts';
import { eventJson } from './message.ts';
import type { ConnectionSlots } from './connection-slots.ts';

interface Dependencies {
  readonly sessions: Pick<Sessions, 'identify' | 'recheck'>;
  readonly listeners: Listeners;
  readonly slots: Pick<ConnectionSlots, 'acquireSession'>;
}

/**
 * Admits MQTT clients that send a session's token or id as their password. The user name is ignored, unless it is the
 * id of another application.
 */
export function createMqttAdmission(deps: Dependencies): (client: Client) => Admission {
  const { sessions, listeners, slots } = deps;

  async function identify(password: string | undefined, client: Client): Promise<SessionIdentity> {
    if (password === undefined || password === '') throw new MqttRefusal('notAuthorized');
    return sessions.identify(password, client);
  }

  return (client) =>
    async ({ username, password }, peer) => {
      const session = await identify(password, client).catch(refuse);
      if (username?.startsWith('app_') && username !== session.appId) throw new MqttRefusal('notAuthorized');
      const digest = session.sessionDigest;
      const release = orRefuse(() => slots.acquireSession(digest));
      const listener = createMqttListener(session, client, peer);
      const unlisten = listeners.addSession(listener);
      const closed = () => {
        unlisten();
        release();
      };
      try {
        // The session may have ended before it was registered as a listener.
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
    // Known once the client subscribes to it: only the digest of the session's id is available.
    session: undefined,
  };
  let hasEnded = false;

  /** Disconnecting takes a moment; nothing is sent after it has begun. */
  function end(...reason: Parameters<MqttPeer['end']>): void {
    hasEnded = true;
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
      if (hasEnded) return;
      const topic = event.audience === 'developer' ? undefined : topics[event.audience];
      if (topic !== undefined) peer.send(topic, eventJson(event));
      if (isLast) end('administrativeAction');
    },
    finish(message) {
      if (hasEnded) return;
      if (!message) return end('serverShuttingDown');
      if (topics.session !== undefined) peer.send(topics.session, JSON.stringify(message));
      end(message.type === 'session.expired' ? 'maximumConnectTime' : 'notAuthorized');
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

/** Errors of the service and of its limits do not mean that the session is invalid. */
function refuse(error: unknown): never {
  if (error instanceof MqttRefusal) throw error;
  const isInvalid = error instanceof ApiError && error.status < 500 && error.status !== 429;
  throw new MqttRefusal(isInvalid ? 'notAuthorized' : 'unavailable');
}
