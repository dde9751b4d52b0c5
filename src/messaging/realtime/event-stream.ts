import { Readable } from 'node:stream';
import type { PublishedEvent } from '../../foundation/events/events.ts';
import { controlFrame, eventFrame, type ControlMessage } from './message.ts';

const PAGE_SIZE = 100;
/** Events that happen while a page of stored ones is read. */
const MAX_BUFFERED_EVENTS = 1_000;
/** What a slow client has not read beyond this is read from the database again. */
const MAX_UNREAD_CHARACTERS = 256 * 1024;
/** A client that reads nothing during this many heartbeats, although data is waiting for it, is gone. */
const MAX_IDLE_HEARTBEATS = 3;
/** After which a browser reconnects. */
const RETRY_MS = 1_000;

/** Where a stream starts. */
export interface StartPosition {
  /** The stream starts after this position. */
  readonly position: number;
  /** The event at that position, for a client that is disconnected before its first event. Undefined if unknown. */
  readonly eventId: string | undefined;
  /** Sent first. */
  readonly message?: ControlMessage | undefined;
}

interface Options {
  readonly start: StartPosition;
  /** Reads published events of this stream after a position, in order. */
  readonly read: (position: number, limit: number) => Promise<PublishedEvent[]>;
}

/** The state of a stream that has yet to catch up with the stored events. */
interface Backlog {
  isReading: boolean;
  buffered: PublishedEvent[];
  hasOverflowed: boolean;
}

const newBacklog = (): Backlog => ({ isReading: false, buffered: [], hasOverflowed: false });

/**
 * Server-sent events. The stream reads the stored events page by page, as fast as the client reads them, and then
 * continues with live events without gap or repetition: every live event is stored as well, and its position shows
 * whether it was sent. For a client that reads more slowly than events happen it returns to reading stored ones, so
 * that little stays in memory.
 */
export class EventStream extends Readable {
  readonly #read: Options['read'];
  #position: number;
  /** Undefined once all stored events are sent. */
  #backlog: Backlog | undefined = newBacklog();
  #lastPosition = Infinity;
  #idleHeartbeats = 0;
  #hasRead = true;

  constructor({ start, read }: Options) {
    super({ encoding: 'utf8' });
    this.#read = read;
    this.#position = start.position;
    const { eventId, message } = start;
    this.push(`retry: ${RETRY_MS}\n${eventId === undefined ? '' : `id: ${eventId}\n`}\n`);
    if (message) this.push(controlFrame(message));
  }

  /**
   * Takes an event that was just published.
   * @param isLast the stream ends after it
   */
  offer(event: PublishedEvent, isLast: boolean): void {
    if (this.destroyed || this.readableEnded) return;
    if (isLast) this.#lastPosition = Math.min(this.#lastPosition, event.position);
    if (!this.#backlog) return this.#send(event);
    // Between two pages nothing is buffered: the next page contains the event.
    if (!this.#backlog.isReading) return;
    if (this.#backlog.buffered.length < MAX_BUFFERED_EVENTS) this.#backlog.buffered.push(event);
    else this.#backlog.hasOverflowed = true;
  }

  /** Ends the stream, after a last message if there is one. */
  finish(message?: ControlMessage): void {
    if (this.destroyed || this.#lastPosition < 0) return;
    if (message) this.push(controlFrame(message));
    this.#end();
  }

  /** Shows that the connection is alive; disconnects a client that is not. */
  heartbeat(): void {
    if (this.destroyed) return;
    this.#idleHeartbeats = this.#hasRead || this.readableLength === 0 ? 0 : this.#idleHeartbeats + 1;
    this.#hasRead = false;
    if (this.#idleHeartbeats >= MAX_IDLE_HEARTBEATS) this.destroy();
    else if (this.readableLength === 0 && !this.#backlog && this.#lastPosition >= 0) this.push(':\n\n');
  }

  override _read(): void {
    this.#hasRead = true;
    const backlog = this.#backlog;
    if (!backlog || backlog.isReading) return;
    backlog.isReading = true;
    this.#readPage(backlog).catch((error: unknown) => this.destroy(error as Error));
  }

  async #readPage(backlog: Backlog): Promise<void> {
    backlog.buffered = [];
    backlog.hasOverflowed = false;
    const page = await this.#read(this.#position, PAGE_SIZE);
    backlog.isReading = false;
    if (this.destroyed || this.#lastPosition < 0) return;
    const hasCaughtUp = page.length < PAGE_SIZE && !backlog.hasOverflowed;
    if (hasCaughtUp) this.#backlog = undefined;
    for (const event of page) this.#send(event);
    // If the client reads too slowly for these, they are read from the database again.
    if (hasCaughtUp) for (const event of backlog.buffered) if (!this.#backlog) this.#send(event);
    // Readable calls again only after a push.
    if (this.#backlog && page.length === 0) this._read();
  }

  #send(event: PublishedEvent): void {
    if (event.position <= this.#position || this.#lastPosition < 0) return;
    this.#position = event.position;
    this.push(eventFrame(event));
    if (event.position >= this.#lastPosition) return this.#end();
    if (this.readableLength > MAX_UNREAD_CHARACTERS) this.#backlog ??= newBacklog();
  }

  #end(): void {
    this.#lastPosition = -1;
    this.push(null);
  }
}
