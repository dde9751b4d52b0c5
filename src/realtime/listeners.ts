import type { PublishedEvent } from '../events/events.ts';
import type { Client } from '../platform/address.ts';
import type { SessionIdentity } from '../sessions/sessions.ts';
import type { Notice } from './message.ts';

/** Somebody who is told of events. */
export interface Listener {
  /** @param isLast nothing comes behind it */
  offer(event: PublishedEvent, isLast: boolean): void;
  /** Ends it. */
  finish(notice?: Notice): void;
}

/** A session that listens. */
export interface SessionListener extends Listener {
  readonly session: SessionIdentity;
  readonly client: Client;
}

/** The listeners whom an event concerns. */
export interface Concerned {
  readonly sessions: readonly SessionListener[];
  readonly developers: readonly Listener[];
  /** Whether none of the sessions can go on. */
  readonly endsSessions: boolean;
  /** Whether the developers' streams end as well. */
  readonly endsAll: boolean;
}

/** Everybody who listens on this node, found by what an event is about. */
export interface Listeners {
  /** @returns takes it out again */
  addSession(listener: SessionListener): () => void;
  /** Adds one who is told of everything in an application. @returns takes it out again */
  addDeveloper(appId: string, listener: Listener): () => void;
  /** @returns the listeners whom an event concerns now */
  concerned(event: PublishedEvent): Concerned;
  sessionsOf(appId: string): readonly SessionListener[];
  sessionsOfUser(appId: string, userId: string): readonly SessionListener[];
  sessions(): Iterable<SessionListener>;
  all(): Listener[];
}

export function createListeners(): Listeners {
  const developers = createGroups<Listener>();
  const ofApplication = createGroups<SessionListener>();
  const ofUser = createGroups<SessionListener>();
  const ofSession = createGroups<SessionListener>();
  const sessions = new Set<SessionListener>();

  function sessionsConcerned(event: PublishedEvent): readonly SessionListener[] {
    const { audience, appId, userId, sessionDigest } = event;
    if (audience === 'application') return ofApplication.members(appId);
    if (audience === 'user') return ofUser.members(`${appId} ${userId}`);
    if (audience === 'session' && sessionDigest) return ofSession.members(sessionDigest.toString('hex'));
    return [];
  }

  return {
    addSession(listener) {
      const { appId, userId, sessionDigest } = listener.session;
      const leave = [
        ofApplication.add(appId, listener),
        ofUser.add(`${appId} ${userId}`, listener),
        ofSession.add(sessionDigest.toString('hex'), listener),
      ];
      sessions.add(listener);
      return () => {
        sessions.delete(listener);
        for (const each of leave) each();
      };
    },

    addDeveloper: (appId, listener) => developers.add(appId, listener),

    concerned: (event) => ({
      sessions: sessionsConcerned(event),
      developers: developers.members(event.appId),
      endsSessions: endsSessions(event),
      endsAll: event.type === 'application.deleted',
    }),

    sessionsOf: (appId) => ofApplication.members(appId),
    sessionsOfUser: (appId, userId) => ofUser.members(`${appId} ${userId}`),
    sessions: () => sessions,
    all: () => [...sessions, ...developers.all()],
  };
}

/** Whether no session that is told of an event can go on. */
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
    /** A copy: whoever is told may leave. */
    members: (name: string): readonly Member[] => [...(groups.get(name) ?? [])],
    all: () => [...groups.values()].flatMap((group) => [...group]),
  };
}
