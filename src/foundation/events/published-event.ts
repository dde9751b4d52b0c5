import { eventTypes, isEventType, type Audience, type EventType } from './event-types.ts';
import type { NumberedRow } from './event-row.ts';

/** An event with its position in the order of publication. */
export interface PublishedEvent {
  readonly eventId: string;
  /** Increases by one from event to event. */
  readonly position: number;
  readonly type: EventType;
  /** Its recipients in addition to the developer. */
  readonly audience: Audience;
  readonly appId: string;
  readonly userId: string | null;
  readonly sessionDigest: Buffer | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

/** An event as it is delivered by webhook, over the broker and as a server-sent event. */
export interface EventMessage {
  readonly id: string;
  readonly type: EventType;
  readonly timestamp: string;
  readonly app_id: string;
  readonly user_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Converts an event to the form in which it is delivered. */
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

const AUDIENCES: readonly string[] = ['developer', 'application', 'user', 'session'] satisfies Audience[];

/**
 * Converts a row. An unknown type has the audience that the newer version recorded with it; data that was
 * damaged after publication becomes an empty object.
 */
export function toPublished(row: NumberedRow): PublishedEvent {
  const type = row.type as EventType;
  const known = isEventType(row.type) ? eventTypes[row.type] : row.audience;
  const isObject = typeof row.data === 'object' && row.data !== null && !Array.isArray(row.data);
  return {
    eventId: row.event_id,
    position: row.position,
    type,
    audience: AUDIENCES.includes(known ?? '') ? (known as Audience) : 'developer',
    appId: row.app_id,
    userId: row.user_id,
    sessionDigest: row.session_digest,
    data: isObject ? row.data : {},
    createdAt: row.created_at,
  };
}
