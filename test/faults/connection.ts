import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawResponse {
  readonly status: number;
  /** Whether the server announced that it closes the connection. */
  readonly closes: boolean;
  readonly text: string;
}

/** A TCP connection to the service that never repeats a request by itself. */
export class Connection {
  readonly socket: Socket;
  /** The number of requests with a response. */
  received = 0;
  #buffer = Buffer.alloc(0);
  #over: string | undefined;
  #wake = (): void => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (part) => {
      this.#buffer = Buffer.concat([this.#buffer, part]);
      this.#wake();
    });
    const end = (why: string) => {
      this.#over ??= why;
      this.#wake();
    };
    socket.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    socket.on('end', () => end('closed by the server'));
    socket.on('close', () => end('closed'));
  }

  /** @throws the error of the system, such as ECONNREFUSED */
  static async open(baseUrl: string): Promise<Connection> {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** Why the connection ended, undefined while it is open. */
  get over(): string | undefined {
    return this.#over;
  }

  write(text: string): void {
    this.socket.write(text);
  }

  /** The next response. @throws Error with the reason if the connection ended before it was complete */
  async response(): Promise<RawResponse> {
    for (;;) {
      const response = this.#take();
      if (response) {
        this.received += 1;
        return response;
      }
      if (this.#over !== undefined) throw new Error(this.#over);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async request(path: string, body: object): Promise<RawResponse> {
    this.write(requestText(path, body));
    return this.response();
  }

  destroy(): void {
    this.socket.destroy();
  }

  #take(): RawResponse | undefined {
    const headEnd = this.#buffer.indexOf('\r\n\r\n');
    if (headEnd < 0) return undefined;
    const head = this.#buffer.subarray(0, headEnd).toString('latin1');
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
    const end = headEnd + 4 + length;
    if (this.#buffer.length < end) return undefined;
    const text = this.#buffer.subarray(headEnd + 4, end).toString('utf8');
    this.#buffer = this.#buffer.subarray(end);
    return { status: Number(head.split(' ')[1]), closes: /^connection: *close/im.test(head), text };
  }
}

/** A complete POST request. */
export function requestText(path: string, body: object): string {
  const payload = JSON.stringify(body);
  return (
    `POST ${path} HTTP/1.1\r\nHost: latchkey.test\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${Buffer.byteLength(payload)}\r\n\r\n${payload}`
  );
}
