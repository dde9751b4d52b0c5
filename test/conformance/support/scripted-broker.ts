import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

const CONNECT = 1;
const PUBLISH = 3;
const SUBSCRIBE = 8;

/** Supports just enough MQTT 5 to respond as no real broker would. */
export interface ScriptedBroker {
  readonly url: string;
  /** Packet identifiers of the messages that wait for a response, in order of arrival. */
  readonly waiting: number[];
  /** The largest number of messages that have waited at the same time. */
  most(): number;
  /** Acknowledges the oldest waiting message. */
  acknowledge(reasonCode?: number): void;
  /** Closes the connection without a message. */
  drop(): void;
}

/**
 * Accepts every client and subscription, acknowledges messages on demand and delivers none.
 * @param receiveMaximum the number of messages that it allows in progress
 */
export async function startScriptedBroker(receiveMaximum: number): Promise<ScriptedBroker> {
  const sockets = new Set<Socket>();
  const waiting: number[] = [];
  let last: Socket | undefined;
  let most = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    last = socket;
    socket.on('error', () => {});
    let buffer = Buffer.alloc(0);
    socket.on('data', (part: Buffer) => {
      buffer = Buffer.concat([buffer, part]);
      for (let packet = take(); packet; packet = take()) respond(packet.type, packet.body);
    });
    /** Packets of the tests are shorter than 128 bytes, so their length is one byte. */
    function take(): { type: number; body: Buffer } | undefined {
      if (buffer.length < 2 || buffer.length < 2 + buffer[1]!) return undefined;
      const end = 2 + buffer[1]!;
      const packet = { type: buffer[0]! >> 4, body: buffer.subarray(2, end) };
      buffer = buffer.subarray(end);
      return packet;
    }
    function respond(type: number, body: Buffer): void {
      if (type === CONNECT) socket.write(Buffer.from([0x20, 6, 0, 0, 3, 0x21, 0, receiveMaximum]));
      if (type === SUBSCRIBE) socket.write(Buffer.from([0x90, 4, body[0]!, body[1]!, 0, 1]));
      if (type === PUBLISH) most = Math.max(most, waiting.push(body.readUInt16BE(2 + body.readUInt16BE(0))));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`,
    waiting,
    most: () => most,
    acknowledge(reasonCode = 0) {
      const id = waiting.shift()!;
      last!.write(Buffer.from([0x40, 3, id >> 8, id & 255, reasonCode]));
    },
    drop: () => void last!.destroy(),
  };
}
