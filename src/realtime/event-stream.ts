import { Readable } from 'node:stream';
import type { PublishedEvent } from '../events/events.ts';
import { eventFrame, noticeFrame, type Notice } from './message.ts';

const PAGE = 100;
/** Events that happen while a page of old ones is read. */
const MAX_GATHERED = 1_000;
/** More than this does not wait in memory for a client to read it. */
const MAX_UNREAD_CHARACTERS = 256 * 1024;
/** A client that has read nothing for so many beats, though something waits for it, is gone. */
const MAX_IDLE_BEATS = 3;
/** After which a browser tries again. */
const RETRY_MS = 1_000;

/** From where a stream begins. */
export interface Beginning {
  /** The place behind which it begins. */
  readonly position: number;
  /** The event at that place, for a client that is cut off before its first one; undefined when none is known. */
  readonly eventId: string | undefined;
  /** Said first. */
  readonly notice?: Notice | undefined;
}

interface Options {
  readonly beginning: Beginning;
  /** Published events for this stream, behind a place, in their order. */
  readonly read: (position: number, limit: number) => Promise<PublishedEvent[]>;
}

/** What is known while events are read that were kept. */
interface Kept {
  reading: boolean;
  gathered: PublishedEvent[];
  overflown: boolean;
}

const newlyKept = (): Kept => ({ reading: false, gathered: [], overflown: false });

/**
 * Server-sent events. It reads what is kept, page by page as the client takes it, and goes over to what happens without gap or
 * repetition: every event that is offered can be read as well, and their places tell which ones were handed out. For a client
 * that takes less than happens it goes back to reading, so that no more than a little waits in memory.
 */
export class EventStream extends Readable {
  readonly #read: Options['read'];
  #position: number;
  /** Undefined once all is handed out that was kept. */
  #kept: Kept | undefined = newlyKept();
  #lastPosition = Infinity;
  #idleBeats = 0;
  #taken = true;

  constructor({ beginning, read }: Options) {
    super({ encoding: 'utf8' });
    this.#read = read;
    this.#position = beginning.position;
    const { eventId, notice } = beginning;
    this.push(`retry: ${RETRY_MS}\n${eventId === undefined ? '' : `id: ${eventId}\n`}\n`);
    if (notice) this.push(noticeFrame(notice));
  }

  /**
   * Takes an event that was just published.
   * @param isLast the stream ends behind it
   */
  offer(event: PublishedEvent, isLast: boolean): void {
    if (this.destroyed || this.readableEnded) return;
    if (isLast) this.#lastPosition = Math.min(this.#lastPosition, event.position);
    if (!this.#kept) return this.#handOut(event);
    // Between two pages nothing is gathered: the next page has it.
    if (!this.#kept.reading) return;
    if (this.#kept.gathered.length < MAX_GATHERED) this.#kept.gathered.push(event);
    else this.#kept.overflown = true;
  }

  /** Says a last word and ends. */
  finish(notice?: Notice): void {
    if (this.destroyed || this.#lastPosition < 0) return;
    if (notice) this.push(noticeFrame(notice));
    this.#end();
  }

  /** Shows that the connection lives; cuts it off when its client does not. */
  beat(): void {
    if (this.destroyed) return;
    this.#idleBeats = this.#taken || this.readableLength === 0 ? 0 : this.#idleBeats + 1;
    this.#taken = false;
    if (this.#idleBeats >= MAX_IDLE_BEATS) this.destroy();
    else if (this.readableLength === 0 && !this.#kept && this.#lastPosition >= 0) this.push(':\n\n');
  }

  override _read(): void {
    this.#taken = true;
    const kept = this.#kept;
    if (!kept || kept.reading) return;
    kept.reading = true;
    this.#readPage(kept).catch((error: unknown) => this.destroy(error as Error));
  }

  async #readPage(kept: Kept): Promise<void> {
    kept.gathered = [];
    kept.overflown = false;
    const page = await this.#read(this.#position, PAGE);
    kept.reading = false;
    if (this.destroyed || this.#lastPosition < 0) return;
    const caughtUp = page.length < PAGE && !kept.overflown;
    if (caughtUp) this.#kept = undefined;
    for (const event of page) this.#handOut(event);
    // What there is no room for is read again.
    if (caughtUp) for (const event of kept.gathered) if (!this.#kept) this.#handOut(event);
    // Readable asks again only when something was pushed.
    if (this.#kept && page.length === 0) this._read();
  }

  #handOut(event: PublishedEvent): void {
    if (event.position <= this.#position || this.#lastPosition < 0) return;
    this.#position = event.position;
    this.push(eventFrame(event));
    if (event.position >= this.#lastPosition) return this.#end();
    if (this.readableLength > MAX_UNREAD_CHARACTERS) this.#kept ??= newlyKept();
  }

  #end(): void {
    this.#lastPosition = -1;
    this.push(null);
  }
}
