import { createServer, connect, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { freePort } from '../support/free-port.ts';

/** A proxy between the service and its database that simulates network failures. */
export class DatabaseProxy {
  readonly port: number;
  readonly #target: string;
  readonly #clients = new Set<Socket>();
  readonly #held: (() => void)[] = [];
  #server: Server | undefined;
  #silent = false;
  #delayMs = 0;

  private constructor(server: Server, port: number, target: string) {
    this.#server = server;
    this.#target = target;
    this.port = port;
    server.on('connection', (socket) => this.#serve(socket));
  }

  /** @param target the path of the database's Unix socket */
  static async open(target: string): Promise<DatabaseProxy> {
    // The port must stay reserved while the proxy refuses connections.
    const port = await freePort();
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new DatabaseProxy(server, port, target);
  }

  /** Accepts connections without a response. Open connections receive no more data. */
  hang(): void {
    this.#silent = true;
  }

  /** Adds this much latency in each direction. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Ends every connection and refuses new ones. */
  async refuse(): Promise<void> {
    const closed = once(this.#server!, 'close');
    this.#server!.close();
    this.cut();
    await closed;
    this.#server = undefined;
  }

  /** Resets every connection. */
  cut(): void {
    for (const socket of this.#clients) socket.resetAndDestroy();
  }

  /** Works again. */
  async resume(): Promise<void> {
    this.#silent = false;
    for (const deliver of this.#held.splice(0)) deliver();
    if (this.#server) return;
    this.#server = createServer((socket) => this.#serve(socket)).listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    if (this.#server) await this.refuse();
  }

  #serve(client: Socket): void {
    const upstream = connect(this.#target);
    this.#clients.add(client);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('data', (part: Buffer) => this.#pass(() => to.writable && to.write(part)));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#clients.delete(client);
        this.#pass(() => to.destroy());
      });
    }
  }

  #pass(deliver: () => void): void {
    if (this.#silent) this.#held.push(deliver);
    // Timers with the same delay fire in order.
    else if (this.#delayMs > 0) setTimeout(deliver, this.#delayMs);
    else deliver();
  }
}
