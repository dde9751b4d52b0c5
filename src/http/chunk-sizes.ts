import type { IncomingMessage } from 'node:http';

const LF = 0x0a;
const CR = 0x0d;
const SEMICOLON = 0x3b;
const HEAD_END = '\r\n\r\n';

type State = 'size' | 'extension' | 'data' | 'done';

/** Follows the sizes of the chunks of one body (RFC 9112, section 7.1). It judges no syntax: Node's parser does that. */
export class ChunkSizes {
  readonly #limit: number;
  #state: State = 'size';
  #size = 0;
  /** Bytes of the chunk, and of its line end, that are still to come. */
  #left = 0;

  /** @param limit the largest chunk, in bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether there is nothing more to follow: after the last chunk, or after bytes that are no chunk. */
  get isDone(): boolean {
    return this.#state === 'done';
  }

  /** @returns whether the next bytes of the body announce a chunk over the limit */
  exceeds(bytes: Uint8Array): boolean {
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
        if (this.#state === 'extension' && this.#size > this.#limit) return true;
      }
    }
    return false;
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
 * Watches the connection of a request that is sent in chunks, because Node does not tell how large a chunk claims to be. It
 * must be called while the `request` event is emitted.
 * @param limit the largest chunk, in bytes
 * @param refuse is called once, when a chunk is larger than that
 */
export function watchChunks(request: IncomingMessage, limit: number, refuse: () => void): void {
  if (request.headers['transfer-encoding'] === undefined) return;
  const first = startOfBody(request);
  // Without knowing where the body starts, a chunk cannot be told from its data: the limit of time for a request remains.
  if (!first) return;
  const { socket } = request;
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
  // Most bodies come whole with the head: their connection is left as it is.
  if (sizes.exceeds(first)) return refuse();
  if (sizes.isDone) return;
  socket.on('data', read);
  request.on('close', stop);
}

/**
 * The bytes of the body that came in one piece with the end of the head. Node's parser has them, which is no public API.
 * @returns undefined when they cannot be found for sure, as when requests are pipelined
 */
function startOfBody({ socket, rawHeaders }: IncomingMessage): Uint8Array | undefined {
  const { parser } = socket as { parser?: { getCurrentBuffer?(): Uint8Array | undefined } | null };
  const piece = parser?.getCurrentBuffer?.();
  if (!piece) return undefined;
  const buffer = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  // The empty line that ends the head may itself come in two pieces.
  for (let sent = 0; sent < HEAD_END.length; sent += 1) {
    const rest = HEAD_END.slice(sent);
    if (buffer.subarray(0, rest.length).toString('latin1') === rest) return buffer.subarray(rest.length);
  }
  const end = buffer.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const lastLine = buffer.subarray(0, end).toString('latin1').split('\r\n').at(-1)!.trimEnd();
  const value = rawHeaders.at(-1)!;
  return lastLine.endsWith(value) || value.endsWith(lastLine) ? buffer.subarray(end + 4) : undefined;
}
