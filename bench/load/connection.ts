import { connect } from 'node:net';

/** A response as far as the load generator looks at it. */
export interface RawResponse {
  readonly status: number;
  /** The status line and the headers. */
  readonly head: string;
  readonly body: string;
}

/** One keep-alive connection with one request in progress at a time. */
export interface Connection {
  /** Sends a request; `onResponse` is called once. */
  send(request: string): void;
  close(): void;
}

const LENGTH = 'Content-Length: ';
const END_OF_HEAD = '\r\n\r\n';
const BUFFER_BYTES = 16_384;

/**
 * Opens a connection. It costs a third of what an HTTP client does, so that the servers have the machine: it knows
 * HTTP/1.1 just as far as the contenders speak it, with a Content-Length in every response.
 * @param onError called when the connection breaks
 */
export function openConnection(
  port: number,
  onResponse: (response: RawResponse) => void,
  onError: (error: Error) => void,
): Connection {
  let received = '';
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafe(BUFFER_BYTES),
      callback(size, buffer) {
        received += (buffer as Buffer).toString('latin1', 0, size);
        const end = received.indexOf(END_OF_HEAD);
        if (end < 0) return true;
        const start = end + END_OF_HEAD.length;
        const length = parseInt(received.slice(received.indexOf(LENGTH) + LENGTH.length, end), 10);
        if (received.length < start + length) return true;
        const status = Number(received.slice(9, 12));
        const response = { status, head: received.slice(0, start), body: received.slice(start) };
        received = '';
        onResponse(response);
        return true;
      },
    },
  });
  let closed = false;
  socket.on('error', onError);
  socket.on('close', () => {
    if (!closed) onError(new Error('the server closed the connection'));
  });
  return {
    send: (request) => void socket.write(request, 'latin1'),
    close() {
      closed = true;
      socket.destroy();
    },
  };
}
