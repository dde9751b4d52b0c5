import type { Knex } from 'knex';
import type { Actor, Audit } from '../audit/audit.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import { eventTypes, type Audience, type EventType } from './event-types.ts';
import * as store from './event-store.ts';

export type { Audience, EventType } from './event-types.ts';

const NUMBERED_AT_ONCE = 500;

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
  /** The id of what was changed, for the audit log; the user or the application when left out. */
  readonly target?: string | undefined;
}

/** A change that has its place in the order of publication. */
export interface PublishedEvent {
  readonly eventId: string;
  /** Grows by one from event to event. */
  readonly position: number;
  readonly type: EventType;
  /** Whom it tells besides the developer. */
  readonly audience: Audience;
  readonly appId: string;
  readonly userId: string | null;
  readonly sessionDigest: Buffer | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

/** The outbox: what is recorded in a transaction is published after it, in the order of the changes of one subject. */
export interface Events {
  /** Records changes inside the transaction that makes them. */
  record(trx: Knex.Transaction, ...changes: readonly Change[]): Promise<void>;
  /**
   * Gives new events their places. Of several nodes one does it at a time.
   * @param consume what else must happen exactly once for each event, in the same transaction
   * @returns how many; 0 when there are none, or another node is at it
   */
  number(
    consume: (trx: Knex.Transaction, events: readonly PublishedEvent[]) => Promise<void>,
  ): Promise<number>;
  /** The place of the event that was published last; 0 before the first one. */
  lastPosition(): Promise<number>;
  /** Published events behind a place, in their order. */
  after(position: number, limit: number): Promise<PublishedEvent[]>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createEvents({ knex, audit, clock, newId }: Dependencies): Events {
  return {
    async record(trx, ...changes) {
      const createdAt = clock.now();
      await store.insertEvents(
        trx,
        changes.map(({ type, appId, userId, sessionDigest, data = {} }) => ({
          event_id: newId('evt'),
          app_id: appId,
          type,
          user_id: userId ?? null,
          session_digest: sessionDigest ?? null,
          data,
          created_at: createdAt,
        })),
      );
      for (const { type, appId, userId, data, actor, target } of changes) {
        if (!actor) continue;
        const deed = { action: type, appId, target: target ?? userId ?? appId, data: data ?? {} };
        await audit.record(trx, actor, deed);
      }
    },

    number: (consume) =>
      knex.transaction(async (trx) => {
        const last = await store.tryHoldPosition(trx, 'log');
        if (last === undefined) return 0;
        const numbered = await store.numberEvents(trx, last, NUMBERED_AT_ONCE);
        if (numbered.length === 0) return 0;
        await store.setPosition(trx, 'log', numbered.at(-1)!.position);
        await consume(trx, numbered.map(toPublished));
        await store.announceNumbers(trx);
        return numbered.length;
      }),

    lastPosition: () => store.findLastPosition(knex),

    async after(position, limit) {
      return (await store.readEventsAfter(knex, position, limit)).map(toPublished);
    },
  };
}

/** An event as receivers get it: by webhook, over the broker and as a server-sent event. */
export interface EventMessage {
  readonly id: string;
  readonly type: EventType;
  readonly timestamp: string;
  readonly app_id: string;
  readonly user_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The one form in which an event leaves the service. */
export function toMessage(event: PublishedEvent): EventMessage {
  return {
    id: event.eventId,
    type: event.type,
    timestamp: event.createdAt.toISOString(),
    app_id: event.appId,
    user_id: event.userId,
    data: event.data,
  };
}

function toPublished(row: store.NumberedRow): PublishedEvent {
  const type = row.type as EventType;
  return {
    eventId: row.event_id,
    position: row.position,
    type,
    audience: eventTypes[type] ?? 'developer',
    appId: row.app_id,
    userId: row.user_id,
    sessionDigest: row.session_digest,
    data: row.data,
    createdAt: row.created_at,
  };
}
