import type { PublishedEvent } from '../../foundation/events/events.ts';
import type { Client } from '../../platform/address.ts';
import type { SessionIdentity } from '../../licensing/sessions/sessions.ts';
import type { ControlMessage } from './message.ts';

/** A connected client that receives events. */
export interface Listener {
  /** @param isLast no event follows */
  offer(event: PublishedEvent, isLast: boolean): void;
  /** Ends the connection, after a last message if there is one. */
  finish(message?: ControlMessage): void;
}

/** A listener that has authenticated with a session. */
export interface SessionListener extends Listener {
  readonly session: SessionIdentity;
  readonly client: Client;
}

/** The listeners that receive an event. */
export interface Recipients {
  readonly sessions: readonly SessionListener[];
  readonly developers: readonly Listener[];
  /** Whether the event ends the sessions. */
  readonly endsSessions: boolean;
  /** Whether the event ends the developers' streams as well. */
  readonly endsAll: boolean;
}

/** The listeners on this node, indexed by what events are about. */
export interface Listeners {
  /** @returns removes the listener */
  addSession(listener: SessionListener): () => void;
  /** Adds a listener that receives all events of an application. @returns removes the listener */
  addDeveloper(appId: string, listener: Listener): () => void;
  recipientsOf(event: PublishedEvent): Recipients;
  sessionsOf(appId: string): readonly SessionListener[];
  sessionsOfUser(appId: string, userId: string): readonly SessionListener[];
  sessions(): Iterable<SessionListener>;
  all(): Listener[];
}

export function createListeners(): Listeners {
  const developers = createGroups<Listener>();
  const byApplication = createGroups<SessionListener>();
  const byUser = createGroups<SessionListener>();
  const bySession = createGroups<SessionListener>();
  const sessions = new Set<SessionListener>();

  function sessionsFor(event: PublishedEvent): readonly SessionListener[] {
    const { audience, appId, userId, sessionDigest } = event;
    if (audience === 'application') return byApplication.members(appId);
    if (audience === 'user') return byUser.members(`${appId} ${userId}`);
    if (audience === 'session' && sessionDigest) return bySession.members(sessionDigest.toString('hex'));
    return [];
  }

  return {
    addSession(listener) {
      const { appId, userId, sessionDigest } = listener.session;
      const removals = [
        byApplication.add(appId, listener),
        byUser.add(`${appId} ${userId}`, listener),
        bySession.add(sessionDigest.toString('hex'), listener),
      ];
      sessions.add(listener);
      return () => {
        sessions.delete(listener);
        for (const remove of removals) remove();
      };
    },

    addDeveloper: (appId, listener) => developers.add(appId, listener),

    recipientsOf: (event) => ({
      sessions: sessionsFor(event),
      developers: developers.members(event.appId),
      endsSessions: endsSessions(event),
      endsAll: event.type === 'application.deleted',
    }),

    sessionsOf: (appId) => byApplication.members(appId),
    sessionsOfUser: (appId, userId) => byUser.members(`${appId} ${userId}`),
    sessions: () => sessions,
    all: () => [...sessions, ...developers.all()],
  };
}

/** Whether an event ends all sessions that receive it. */
function endsSessions({ type }: PublishedEvent): boolean {
  return type === 'session.ended' || type === 'application.disabled' || type === 'application.deleted';
}

function createGroups<Member>() {
  const groups = new Map<string, Set<Member>>();
  return {
    add(name: string, member: Member): () => void {
      const group = groups.get(name) ?? new Set();
      groups.set(name, group.add(member));
      return () => {
        group.delete(member);
        if (group.size === 0 && groups.get(name) === group) groups.delete(name);
      };
    },
    /** A copy, because delivering an event may remove its listener. */
    members: (name: string): readonly Member[] => [...(groups.get(name) ?? [])],
    all: () => [...groups.values()].flatMap((group) => [...group]),
  };
}
