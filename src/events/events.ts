import type { Knex } from 'knex';
import type pg from 'pg';
import type { Actor, Audit } from '../audit/audit.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import { eventTypes, type Audience, type EventType } from './event-types.ts';
import * as store from './event-store.ts';
import { createOutbox, type Consume, type Numbering } from './outbox.ts';
import { countSetAside, setAsideOfBroker } from './outbox-store.ts';
import { toPublished, type PublishedEvent } from './published-event.ts';

export { isEventType, type Audience, type EventType } from './event-types.ts';
export type { EventFilter } from './event-store.ts';
export { toMessage, type EventMessage, type PublishedEvent } from './published-event.ts';

const CLEARED_AT_ONCE = 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A change of an application's state. */
export interface Change {
  readonly type: EventType;
  readonly appId: string;
  readonly userId?: string | undefined;
  /** SHA-256 of the session id, where it is about one session. */
  readonly sessionDigest?: Buffer | undefined;
  /**
   * What a receiver needs to know, in the wire's names. Events that tell sessions must hold nothing that a session may not
   * see; none may hold a secret.
   */
  readonly data?: Readonly<Record<string, unknown>>;
  /** The developer's side, when it made the change: then it is in the audit log too. */
  readonly actor?: Actor | undefined;
  /** What the audit log is told besides, and nobody who receives the event. */
  readonly remark?: Readonly<Record<string, unknown>>;
  /** The id of what was changed, for the audit log; the user or the application when left out. */
  readonly target?: string | undefined;
}

/** The outbox: what is recorded in a transaction is published after it, in the order of the changes of one subject. */
export interface Events {
  /** Records changes inside the transaction that makes them. */
  record(trx: Knex.Transaction, ...changes: readonly Change[]): Promise<void>;
  /**
   * Gives new events their places. Of several nodes one does it at a time. An event that cannot be published is set aside,
   * which is logged as an error: those behind it go on, those of the same subject among them.
   * @param consume what else must happen exactly once for each event, in the same transaction
   * @returns none when there are none, or another node is at it
   */
  number(consume: Consume, limit: number): Promise<Numbering>;
  /** The place of the event that was published last; 0 before the first one. */
  lastPosition(): Promise<number>;
  /** Published events behind a place, in their order. */
  after(position: number, limit: number): Promise<PublishedEvent[]>;
  /** Published events of an application behind a place, in the direction of the range. */
  ofApplication(appId: string, filter: store.EventFilter, range: EventRange): Promise<PublishedEvent[]>;
  /** Published events that a session may see, behind a place, in the direction of the range. */
  ofSession(session: EventSession, range: EventRange): Promise<PublishedEvent[]>;
  /**
   * The last event up to a place behind which a session misses nothing: one that it may see, or that of its own beginning.
   */
  anchorOf(session: EventSession, position: number): Promise<PublishedEvent | undefined>;
  /** The place of a published event of an application; undefined when there is none, or none any more. */
  positionOf(appId: string, eventId: string): Promise<number | undefined>;
  /**
   * A list for the developer of an application, who is known to be that.
   * @throws ApiError EVENT_NOT_FOUND
   */
  list(appId: string, request: EventRequest): Promise<EventPage>;
  /**
   * Takes events to where they are wanted exactly once in their order, of several nodes one at a time.
   * @param take tells how many of the events, from the first one on, are done with: it is asked again for the others. Of
   *   those `refused` says by id which ones cannot be taken, and why
   * @returns whether there may be more; false when another node is at it
   */
  forBroker(take: (events: readonly PublishedEvent[]) => Promise<Taken>, limit: number): Promise<boolean>;
  /** How many events are set aside: for everybody, and for the broker outside alone. */
  setAside(): Promise<{ readonly events: number; readonly broker: number }>;
  /** How far the way from a change to its receivers lags: the age of the oldest unpublished event, and what the broker lacks. */
  lag(): Promise<{ readonly unpublishedMs: number; readonly brokerEvents: number }>;
  /** Deletes some published events whose days are over. @returns how many */
  clearExpired(): Promise<number>;
  /** Deletes some published events of a deleted application, but not that of its deletion. @returns how many */
  clearOf(appId: string): Promise<number>;
  /**
   * Published events of an application within a time, the oldest first.
   * @param db the caller's transaction, where it is in one
   * @param span from `since` until before `until`, behind the event `after`
   */
  within(db: Knex, appId: string, span: EventSpan, limit: number): Promise<PublishedEvent[]>;
}

/** What came of handing events on. */
export interface Taken {
  readonly done: number;
  readonly refused?: ReadonlyMap<string, string>;
}

export interface EventSpan {
  readonly since: Date;
  readonly until: Date;
  /** Where the part before this one ended. */
  readonly after: { readonly createdAt: Date; readonly eventId: string } | undefined;
}

/** From where on, in which direction, and how many. */
export interface EventRange {
  /** Behind which place; undefined for all. */
  readonly position: number | undefined;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

/** Whom an event tells who is logged in. */
export interface EventSession {
  readonly appId: string;
  readonly userId: string;
  /** SHA-256 of the session id. */
  readonly sessionDigest: Buffer;
}

export interface EventRequest extends store.EventFilter {
  /** The event behind which the list begins. */
  readonly after?: string | undefined;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

export interface EventPage {
  readonly data: readonly PublishedEvent[];
  /** What to pass as `after` to go on. */
  readonly lastEventId: string | null;
  readonly hasMore: boolean;
}

/** The types of event for each audience. */
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
  /** For the health check, which must not wait behind work. */
  readonly pool: pg.Pool;
  readonly logger: Logger;
  /** How many days an event is kept. */
  readonly eventDays: number;
  /** Whether events go to a broker outside. */
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
      for (const { type, appId, userId, data, remark, actor, target } of changes) {
        if (!actor) continue;
        const deed = { action: type, appId, target: target ?? userId ?? appId, data: { ...data, ...remark } };
        await audit.record(trx, actor, deed);
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

    async list(appId, { after, order, limit, types, userId }) {
      const position = after === undefined ? undefined : await store.findPosition(knex, appId, after);
      if (after !== undefined && position === undefined) throw new ApiError('EVENT_NOT_FOUND');
      const found = await ofApplication(appId, { types, userId }, { position, order, limit: limit + 1 });
      const data = found.slice(0, limit);
      return { data, lastEventId: data.at(-1)?.eventId ?? after ?? null, hasMore: found.length > limit };
    },

    forBroker: (take, limit) =>
      knex.transaction(async (trx) => {
        const held = await store.tryHoldPosition(trx, 'broker');
        if (held === undefined) return false;
        // What was before there was a broker concerns nobody there.
        const position = held < 0 ? await store.findLastPosition(trx) : held;
        const rows = await store.readEventsAfter(trx, position, limit);
        const none: Taken = { done: 0 };
        const { done: taken, refused } = rows.length === 0 ? none : await take(rows.map(toPublished));
        if (refused) await setAsideOfBroker(trx, refused);
        const reached = taken === 0 ? position : rows[taken - 1]!.position;
        if (reached !== held) await store.setPosition(trx, 'broker', reached);
        return taken > 0 && taken === rows.length;
      }),

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
      // Receivers that lag behind must still learn that it is gone.
      store.deleteEventsOfApplication(knex, appId, 'application.deleted', lastConsumer, CLEARED_AT_ONCE),
    async within(db, appId, span, limit) {
      return (await store.readEventsOfApplication(db, appId, span, limit)).map(toPublished);
    },
  };
}
