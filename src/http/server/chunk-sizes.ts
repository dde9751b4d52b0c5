import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

const LF = 0x0a;
const CR = 0x0d;
const SEMICOLON = 0x3b;
const HEAD_END = '\r\n\r\n';

type State = 'size' | 'extension' | 'data' | 'done';

/** Follows the chunk sizes of one body (RFC 9112, section 7.1). Node's parser checks the syntax. */
export class ChunkSizes {
  readonly #limit: number;
  #state: State = 'size';
  #size = 0;
  /** Bytes of the chunk and its line end that have not arrived yet. */
  #left = 0;

  /** @param limit the largest chunk, in bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether there is nothing left to follow: after the last chunk, or after malformed bytes. */
  get isDone(): boolean {
    return this.#state === 'done';
  }

  /** @returns whether the next bytes of the body announce a chunk over the limit */
  exceeds(bytes: Uint8Array): boolean {
    return this.follow(bytes) === undefined;
  }

  /** @returns how many of the next bytes belong to the chunks; undefined when they announce one over the limit */
  follow(bytes: Uint8Array): number | undefined {
    let at = 0;
    while (at < bytes.length && this.#state !== 'done') {
      if (this.#state === 'data') {
        const skipped = Math.min(this.#left, bytes.length - at);
        this.#left -= skipped;
        at += skipped;
        if (this.#left === 0) this.#state = 'size';
      } else {
        this.#readLine(bytes[at]!);
        at += 1;
        if (this.#state === 'extension' && this.#size > this.#limit) return undefined;
      }
    }
    return at;
  }

  #readLine(byte: number): void {
    if (byte === LF) {
      this.#left = this.#size + 2;
      this.#state = this.#size === 0 ? 'done' : 'data';
      this.#size = 0;
    } else if (byte === SEMICOLON || byte === CR) {
      // Node's parser refuses a size over 64 bits as malformed. (2^64 - 1 is rounded to 2^64 here.)
      this.#state = this.#size <= 2 ** 64 ? 'extension' : 'done';
    } else if (this.#state === 'size') {
      const digit = Number.parseInt(String.fromCharCode(byte), 16);
      if (Number.isNaN(digit)) this.#state = 'done';
      else this.#size = this.#size * 16 + digit;
    }
  }
}

/**
 * Watches the connection of a chunked request, because Node does not report the announced size of a chunk. Must be
 * called while the `request` event is emitted.
 * @param limit the largest chunk, in bytes
 * @param refuse is called once, when a chunk is larger than that
 */
export function watchChunks(request: IncomingMessage, limit: number, refuse: () => void): void {
  if (request.headers['transfer-encoding'] === undefined) return;
  const { socket } = request;
  const packet = currentPacket(request);
  const from = packet && startOfBody(request, packet, followed.get(socket));
  // If the start of the body is unknown, chunk sizes cannot be found: the time limit of the request still applies.
  if (!packet || from === undefined) return;
  const sizes = new ChunkSizes(limit);
  const read = (bytes: Uint8Array) => {
    const isTooLarge = sizes.exceeds(bytes);
    if (isTooLarge || sizes.isDone || request.complete) stop();
    if (isTooLarge) refuse();
  };
  const stop = () => {
    socket.off('data', read);
    request.off('close', stop);
  };
  const length = sizes.follow(packet.subarray(from));
  if (length === undefined) return refuse();
  // Most bodies arrive whole with the head: their connection needs no listener.
  if (sizes.isDone) {
    followed.set(socket, { bytesRead: socket.bytesRead, end: from + length });
    return;
  }
  socket.on('data', read);
  request.on('close', stop);
}

/** How far a packet of a connection was followed, for the pipelined requests after that. */
interface Followed {
  /** Identifies the packet: the bytes of the whole connection, including the packet. */
  readonly bytesRead: number;
  readonly end: number;
}

const followed = new WeakMap<Socket, Followed>();

/** The packet that Node's parser is reading, for which Node has no public API. */
function currentPacket({ socket }: IncomingMessage): Buffer | undefined {
  const { parser } = socket as { parser?: { getCurrentBuffer?(): Uint8Array | undefined } | null };
  const packet = parser?.getCurrentBuffer?.();
  return packet && Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength);
}

/**
 * Where the body starts in the packet with the end of the head.
 * @returns undefined when that is uncertain
 */
function startOfBody(
  request: IncomingMessage,
  packet: Buffer,
  before: Followed | undefined,
): number | undefined {
  const from = before?.bytesRead === request.socket.bytesRead ? before.end : 0;
  const text = packet.toString('latin1', from);
  const ends: number[] = [];
  for (let end = text.indexOf(HEAD_END); end >= 0; end = text.indexOf(HEAD_END, end + 1)) ends.push(end);
  // The packet may contain earlier requests, and bodies that contain the end of a head.
  const isEnd = (isCut: boolean) => (end: number) => isHeadOf(request, text.slice(0, end), isCut);
  const end = ends.find(isEnd(false)) ?? (from === 0 ? ends.find(isEnd(true)) : undefined);
  if (end !== undefined) return from + end + HEAD_END.length;
  if (from > 0) return undefined;
  // The empty line that ends the head may itself be split between two packets.
  for (let sent = 1; sent < HEAD_END.length; sent += 1) {
    const rest = HEAD_END.slice(sent);
    if (text.startsWith(rest)) return rest.length;
  }
  return undefined;
}

/**
 * Whether a text ends with the head of a request, without its last line end.
 * @param isCut whether the text may start inside the head
 */
function isHeadOf(
  { method, httpVersion, rawHeaders }: IncomingMessage,
  text: string,
  isCut: boolean,
): boolean {
  let end = text.length;
  for (let index = rawHeaders.length - 2; index >= 0; index -= 2) {
    const [name, value] = [rawHeaders[index]!, rawHeaders[index + 1]!];
    const start = end === 0 ? -1 : text.lastIndexOf('\r\n', end - 1);
    if (start < 0) {
      const rest = text.slice(0, end);
      return (
        isCut && (rest.startsWith('\n') ? isField(rest.slice(1), name, value) : isEndOf(rest, name, value))
      );
    }
    if (!isField(text.slice(start + 2, end), name, value)) return false;
    end = start;
  }
  const line = text.slice(text.lastIndexOf('\n', end - 1) + 1, end);
  if (isCut && !text.slice(0, end).includes('\n')) return true;
  // The body of the previous request may end on the same line.
  return line.includes(`${method} `) && line.endsWith(` HTTP/${httpVersion}`);
}

/** Whether a line is this header field. Node has trimmed the white space around the value. */
function isField(line: string, name: string, value: string): boolean {
  return line.startsWith(`${name}:`) && line.slice(name.length + 1).trim() === value.trim();
}

/** Whether a text can be the end of this header field's line. */
function isEndOf(text: string, name: string, value: string): boolean {
  const rest = text.trim();
  return (
    value.endsWith(rest) ||
    (rest.endsWith(value) && `${name}:`.endsWith(rest.slice(0, rest.length - value.length).trimEnd()))
  );
}
