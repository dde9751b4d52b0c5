import type { Knex } from 'knex';
import type pg from 'pg';
import type { Actor, Audit, NewAuditEntry } from '../audit/audit.ts';
import { COUNTED_AT_MOST } from '../../platform/database/bounded-count.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Logger } from '../../platform/logger.ts';
import { createAccountEvents, type AccountEvents } from './account-events.ts';
import { readPage, type EventPage, type EventRequest } from './event-page.ts';
import { eventTypes, type Audience, type EventType } from './event-types.ts';
import * as store from './event-store.ts';
import { createOutbox, type Consume, type Numbering } from './outbox.ts';
import { countSetAside, countWaiting, setAsideOfBroker } from './outbox-store.ts';
import { toPublished, type PublishedEvent } from './published-event.ts';

export { isEventType, type Audience, type EventType } from './event-types.ts';
export type { EventFilter } from './event-store.ts';
export { toMessage, type EventMessage, type PublishedEvent } from './published-event.ts';

const CLEARED_AT_ONCE = 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A change that is recorded as an event. */
export interface Change {
  readonly type: EventType;
  readonly appId: string;
  readonly userId?: string | undefined;
  /** SHA-256 of the session id, for a change of one session. */
  readonly sessionDigest?: Buffer | undefined;
  /**
   * The data for recipients, with the member names of the API. An event that sessions receive must contain
   * nothing that a session may not see; no event may contain a secret.
   */
  readonly data?: Readonly<Record<string, unknown>>;
  /**
   * Who made the change, if it was made on the developer's side: then it is recorded in the audit log too.
   */
  readonly actor?: Actor | undefined;
  /** Additional data for the audit log only. */
  readonly remark?: Readonly<Record<string, unknown>>;
  /** The id of what was changed, for the audit log; the user or the application by default. */
  readonly target?: string | undefined;
}

/**
 * The outbox: events recorded in a transaction are published after it, in the order of the changes of each
 * subject.
 */
export interface Events extends AccountEvents {
  /** Records changes, inside the transaction that makes them. */
  record(trx: Knex.Transaction, ...changes: readonly Change[]): Promise<void>;
  /**
   * Assigns positions to new events, on one node at a time. An event that cannot be published is set aside
   * and logged as an error; later events are still published, even those of the same subject.
   * @param consume work that must happen exactly once for each event, in the same transaction
   * @returns no events when none are waiting, or when another node is publishing
   */
  number(consume: Consume, limit: number): Promise<Numbering>;
  /** The position of the event that was published last; 0 before the first one. */
  lastPosition(): Promise<number>;
  /** Published events after a position, in order. */
  after(position: number, limit: number): Promise<PublishedEvent[]>;
  /** Published events of an application after a position, in the order of the range. */
  ofApplication(appId: string, filter: store.EventFilter, range: EventRange): Promise<PublishedEvent[]>;
  /** Published events that a session may see, after a position, in the order of the range. */
  ofSession(session: EventSession, range: EventRange): Promise<PublishedEvent[]>;
  /**
   * The last event up to a position that a session may see, or the event of the session's own creation:
   * reading from there, the session misses nothing.
   */
  anchorOf(session: EventSession, position: number): Promise<PublishedEvent | undefined>;
  /**
   * The position of a published event of an application; undefined when it does not exist, or no longer
   * exists.
   */
  positionOf(appId: string, eventId: string): Promise<number | undefined>;
  /**
   * Lists events for the developer of an application. The caller has checked the ownership.
   * @throws ApiError EVENT_NOT_FOUND
   */
  list(appId: string, request: EventRequest): Promise<EventPage>;
  /**
   * Passes events to the broker exactly once and in order, on one node at a time.
   * @param take returns how many of the events, counted from the first, are processed; the others are passed
   *   again. `refused` lists by id which of the processed ones the broker cannot take, with the reasons.
   * @returns whether more events may be waiting; false when another node is passing events
   */
  forBroker(
    take: (events: readonly PublishedEvent[]) => Promise<ConsumedEvents>,
    limit: number,
  ): Promise<boolean>;
  /** How many events are not published yet: at most 10,000 are counted. */
  countWaiting(): Promise<number>;
  /** How many events are set aside entirely, and how many only the external broker does not get. */
  setAside(): Promise<{ readonly events: number; readonly broker: number }>;
  /**
   * How far delivery lags behind changes: the age of the oldest unpublished event, and how many events the
   * broker lacks.
   */
  lag(): Promise<{ readonly unpublishedMs: number; readonly brokerEvents: number }>;
  /** Deletes some published events after their retention period. @returns how many */
  clearExpired(): Promise<number>;
  /**
   * Deletes some published events of a deleted application, except the event of its deletion.
   * @returns how many
   */
  clearOf(appId: string): Promise<number>;
  /**
   * Published events of an application in a time span, the oldest first.
   * @param db the caller's transaction or connection
   * @param span from `since` to before `until`, after the event `after`
   */
  within(db: Knex, appId: string, span: EventSpan, limit: number): Promise<PublishedEvent[]>;
}

/** The result of passing events to the broker. */
export interface ConsumedEvents {
  readonly done: number;
  readonly refused?: ReadonlyMap<string, string>;
}

export interface EventSpan {
  readonly since: Date;
  readonly until: Date;
  /** The last event of the previous page. */
  readonly after: { readonly createdAt: Date; readonly eventId: string } | undefined;
}

/** Where to start, in which order, and how many to read. */
export interface EventRange {
  /** The position to start after; undefined to start at the end of the range. */
  readonly position: number | undefined;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

/** A session as a recipient of events. */
export interface EventSession {
  readonly appId: string;
  readonly userId: string;
  /** SHA-256 of the session id. */
  readonly sessionDigest: Buffer;
}

/** The event types of an audience. */
const typesOf = (audience: Audience) =>
  (Object.keys(eventTypes) as EventType[]).filter((type) => eventTypes[type] === audience);
const SESSION_TYPES = {
  application: typesOf('application'),
  user: typesOf('user'),
  session: typesOf('session'),
};

interface Dependencies {
  readonly knex: Knex;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  /** For the health check, which must not wait behind requests. */
  readonly pool: pg.Pool;
  readonly logger: Logger;
  /** How many days events are kept. */
  readonly eventDays: number;
  /** Whether events go to an external broker. */
  readonly hasBroker: boolean;
}

export function createEvents(deps: Dependencies): Events {
  const { knex, pool, audit, clock, newId, logger, eventDays, hasBroker } = deps;
  const outbox = createOutbox({ knex, logger });
  const lastConsumer = hasBroker ? 'broker' : 'log';

  async function ofApplication(appId: string, filter: store.EventFilter, range: EventRange) {
    return (await store.listEventsOfApplication(knex, appId, filter, range)).map(toPublished);
  }

  return {
    ...createAccountEvents(knex),

    async record(trx, ...changes) {
      const createdAt = clock.now();
      await store.insertEvents(
        trx,
        changes.map(({ type, appId, userId, sessionDigest, data = {} }) => ({
          event_id: newId('evt'),
          app_id: appId,
          type,
          audience: eventTypes[type],
          user_id: userId ?? null,
          session_digest: sessionDigest ?? null,
          data,
          created_at: createdAt,
        })),
      );
      for (const [actor, own] of Map.groupBy(changes, (change) => change.actor)) {
        if (actor) await audit.record(trx, actor, ...own.map(toEntry));
      }
    },

    number: outbox.number,

    lastPosition: () => store.findLastPosition(knex),

    async after(position, limit) {
      return (await store.readEventsAfter(knex, position, limit)).map(toPublished);
    },

    ofApplication,

    async ofSession({ appId, userId, sessionDigest }, range) {
      const filter = { appId, userId, sessionDigest, types: SESSION_TYPES };
      return (await store.listEventsOfSession(knex, filter, range)).map(toPublished);
    },

    async anchorOf({ appId, userId, sessionDigest }, position) {
      const types = { ...SESSION_TYPES, session: [...SESSION_TYPES.session, 'session.created'] };
      const filter = { appId, userId, sessionDigest, types };
      const last = { position: position + 1, order: 'desc', limit: 1 } as const;
      const [row] = await store.listEventsOfSession(knex, filter, last);
      return row && toPublished(row);
    },

    positionOf: (appId, eventId) => store.findPosition(knex, appId, eventId),

    list: (appId, request) =>
      readPage(
        request,
        (eventId) => store.findPosition(knex, appId, eventId),
        (position, limit) => ofApplication(appId, request, { position, order: request.order, limit }),
      ),

    forBroker: (take, limit) =>
      knex.transaction(async (trx) => {
        const held = await store.tryLockPosition(trx, 'broker');
        if (held === undefined) return false;
        // A new broker gets no events from before its first use.
        const position = held < 0 ? await store.findLastPosition(trx) : held;
        const rows = await store.readEventsAfter(trx, position, limit);
        const none: ConsumedEvents = { done: 0 };
        const { done: taken, refused } = rows.length === 0 ? none : await take(rows.map(toPublished));
        if (refused) await setAsideOfBroker(trx, refused);
        const reached = taken === 0 ? position : rows[taken - 1]!.position;
        if (reached !== held) await store.setPosition(trx, 'broker', reached);
        return taken > 0 && taken === rows.length;
      }),

    countWaiting: () => countWaiting(pool, COUNTED_AT_MOST),
    setAside: () => countSetAside(pool),

    async lag() {
      const oldest = await store.findOldestUnnumbered(knex);
      const { log, broker } = await store.findPositions(knex);
      return {
        unpublishedMs: oldest ? Math.max(0, clock.now().getTime() - oldest.getTime()) : 0,
        brokerEvents: hasBroker ? log - Math.max(broker, 0) : 0,
      };
    },

    clearExpired() {
      const createdBefore = new Date(clock.now().getTime() - eventDays * DAY_MS);
      return store.deleteFirstEvents(knex, createdBefore, lastConsumer, CLEARED_AT_ONCE);
    },

    clearOf: (appId) =>
      // Recipients that lag behind must still learn of the deletion.
      store.deleteEventsOfApplication(knex, appId, 'application.deleted', lastConsumer, CLEARED_AT_ONCE),
    async within(db, appId, span, limit) {
      return (await store.readEventsOfApplication(db, appId, span, limit)).map(toPublished);
    },
  };
}

/** The audit entry of a change. */
function toEntry({ type, appId, userId, data, remark, target }: Change): NewAuditEntry {
  return { action: type, appId, target: target ?? userId ?? appId, data: { ...data, ...remark } };
}
