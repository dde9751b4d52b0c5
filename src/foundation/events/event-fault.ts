import { isEventType, eventTypes } from './event-types.ts';
import { LONGEST_DATA_BYTES, type OutboxRow } from './outbox-store.ts';

/** Identifiers become levels of topics and headers of webhooks, so only these characters are safe. */
const IDENTIFIER = /^[\w-]{1,64}$/;
const TYPE = /^[a-z_]{1,32}\.[a-z_]{1,32}$/;
/** ISO 8601 writes these years with four digits. */
const [EARLIEST, LATEST] = [Date.parse('2000-01-01'), Date.parse('9999-12-31')];
const DIGEST_BYTES = 32;

/**
 * Why an event cannot be published; undefined when it can be. An unknown type is not a fault, because a newer
 * version may have written it.
 */
export function faultOf(row: OutboxRow): string | undefined {
  if (!IDENTIFIER.test(row.event_id)) return 'event_id is not an identifier';
  if (!IDENTIFIER.test(row.app_id)) return 'app_id is not an identifier';
  if (!TYPE.test(row.type)) return 'type is not an event type';
  if (row.data_bytes > LONGEST_DATA_BYTES) return `data is longer than ${LONGEST_DATA_BYTES} bytes`;
  if (typeof row.data !== 'object' || row.data === null || Array.isArray(row.data)) {
    return 'data is not an object';
  }
  const createdAt = row.created_at.getTime();
  if (!(createdAt >= EARLIEST && createdAt <= LATEST)) return 'created_at is out of range';
  if (row.user_id !== null && !IDENTIFIER.test(row.user_id)) return 'user_id is not an identifier';
  const audience = isEventType(row.type) ? eventTypes[row.type] : row.audience;
  if (audience === 'user' && row.user_id === null) return 'user_id is missing';
  if (audience === 'session' && row.session_digest?.length !== DIGEST_BYTES)
    return 'session_digest is missing';
  return undefined;
}
