import { eventTypes, isEventType, type Audience, type EventType } from './event-types.ts';
import type { NumberedRow } from './event-row.ts';

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

const AUDIENCES: readonly string[] = ['developer', 'application', 'user', 'session'] satisfies Audience[];

/**
 * A row as the domain shows it. A type that is not known here tells whom the newer version said that it tells; data that were
 * damaged since it was published are none.
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
