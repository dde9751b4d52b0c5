import type { Applications } from '../../accounts/applications/applications.ts';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Events, PublishedEvent } from '../../foundation/events/events.ts';
import type { Relay } from '../relay/relay.ts';
import type { AccountListeners } from './account-listeners.ts';
import type { ConnectionSlots } from './connection-slots.ts';
import { EventStream, type StartPosition } from './event-stream.ts';
import type { ControlMessage } from './message.ts';

/** Which events of a developer's applications a stream contains; members that are left out match all. */
export interface AccountStreamFilter {
  readonly types?: readonly string[] | undefined;
  readonly appId?: string | undefined;
  readonly userId?: string | undefined;
}

/** Opens streams of the events of all applications of a developer. */
export interface AccountStreams {
  /**
   * @param lastEventId the last event that the client received
   * @returns the stream, and `close`, which releases what it holds
   * @throws ApiError TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE
   */
  open(
    actor: Actor,
    filter: AccountStreamFilter,
    lastEventId: string | undefined,
  ): Promise<{ readonly stream: EventStream; readonly close: () => void }>;
}

interface Dependencies {
  readonly applications: Pick<Applications, 'idsWithDeleted'>;
  readonly events: Pick<Events, 'ofApplications' | 'positionOfAny'>;
  readonly relay: Pick<Relay, 'position'>;
  readonly listeners: AccountListeners;
  readonly slots: ConnectionSlots;
  /** Makes the message for a client whose last event is unknown. */
  readonly resetMessage: (lastEventId: string) => ControlMessage;
}

export function createAccountStreams(deps: Dependencies): AccountStreams {
  const { applications, events, relay, listeners, slots, resetMessage } = deps;

  async function startPosition(
    appIds: readonly string[],
    lastEventId: string | undefined,
  ): Promise<StartPosition> {
    const found = lastEventId === undefined ? undefined : await events.positionOfAny(appIds, lastEventId);
    if (found !== undefined) return { position: found, eventId: lastEventId };
    const position = relay.position();
    const latest = { position: position + 1, order: 'desc', limit: 1 } as const;
    const eventId = (await events.ofApplications(appIds, {}, latest))[0]?.eventId;
    if (lastEventId === undefined) return { position, eventId };
    return { position, eventId, message: resetMessage(lastEventId) };
  }

  /** The stored events after a position, up to those that listeners have received when the reading began. */
  async function read(
    developerId: string,
    filter: AccountStreamFilter,
    position: number,
    limit: number,
  ): Promise<PublishedEvent[]> {
    // Before the applications are read: those of all events up to here exist by then.
    const upTo = relay.position();
    const appIds = await applications.idsWithDeleted(developerId);
    const range = { position, upTo, order: 'asc', limit } as const;
    return events.ofApplications(among(appIds, filter), filter, range);
  }

  return {
    async open(actor, filter, lastEventId) {
      const { developerId } = actor;
      const release = slots.acquireApplicationStream(`${actor.kind} ${actor.id}`, developerId);
      let stream: EventStream | undefined;
      const unlisten = listeners.add(developerId, {
        offer(event, isLast) {
          if (matches(event, filter)) stream?.offer(event, isLast);
        },
        finish: (message) => stream?.finish(message),
      });
      const close = () => {
        unlisten();
        release();
      };
      try {
        // After the stream listens, so that it misses no new application.
        const appIds = await applications.idsWithDeleted(developerId);
        listeners.name(developerId, appIds);
        stream = new EventStream({
          start: await startPosition(appIds, lastEventId),
          read: (position, limit) => read(developerId, filter, position, limit),
        });
        return { stream, close };
      } catch (error) {
        close();
        throw error;
      }
    },
  };
}

function among(appIds: readonly string[], { appId }: AccountStreamFilter): readonly string[] {
  return appId === undefined ? appIds : appIds.filter((each) => each === appId);
}

function matches(event: PublishedEvent, { types, appId, userId }: AccountStreamFilter): boolean {
  if (types && !types.includes(event.type)) return false;
  if (appId !== undefined && event.appId !== appId) return false;
  return userId === undefined || event.userId === userId;
}
