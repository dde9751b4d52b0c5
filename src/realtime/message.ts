import { toMessage, type EventMessage, type PublishedEvent } from '../events/events.ts';

/** What a listener is told besides events: no place, no id, not kept. */
export interface Notice {
  readonly type: 'session.expired' | 'session.refused' | 'stream.reset';
  readonly timestamp: string;
  readonly app_id: string;
  readonly user_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

const written = new WeakMap<PublishedEvent, string>();

/** An event in JSON: written once, however many listen. */
export function eventJson(event: PublishedEvent): string {
  let json = written.get(event);
  if (json === undefined) {
    json = JSON.stringify(toMessage(event) satisfies EventMessage);
    written.set(event, json);
  }
  return json;
}

/** An event as a frame of `text/event-stream` (WHATWG HTML, section 9.2.5). JSON has no line breaks. */
export function eventFrame(event: PublishedEvent): string {
  return `id: ${event.eventId}\nevent: ${event.type}\ndata: ${eventJson(event)}\n\n`;
}

/** Without an id: a client that comes back goes on behind the event before. */
export function noticeFrame(notice: Notice): string {
  return `event: ${notice.type}\ndata: ${JSON.stringify(notice)}\n\n`;
}
