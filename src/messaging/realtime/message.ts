import { toMessage, type EventMessage, type PublishedEvent } from '../../foundation/events/events.ts';

/** A message about the connection itself. Unlike an event it has no id and is not stored. */
export interface ControlMessage {
  readonly type: 'session.expired' | 'session.refused' | 'stream.reset';
  readonly timestamp: string;
  /** Null for a stream of all applications. */
  readonly app_id: string | null;
  readonly user_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

const cache = new WeakMap<PublishedEvent, string>();

/** An event in JSON, serialized once for all listeners. */
export function eventJson(event: PublishedEvent): string {
  let json = cache.get(event);
  if (json === undefined) {
    json = JSON.stringify(toMessage(event) satisfies EventMessage);
    cache.set(event, json);
  }
  return json;
}

/** An event as a frame of `text/event-stream` (WHATWG HTML, section 9.2.5). JSON has no line breaks. */
export function eventFrame(event: PublishedEvent): string {
  return `id: ${event.eventId}\nevent: ${event.type}\ndata: ${eventJson(event)}\n\n`;
}

/** Without an id: a client that reconnects continues after the latest event. */
export function controlFrame(message: ControlMessage): string {
  return `event: ${message.type}\ndata: ${JSON.stringify(message)}\n\n`;
}
