import { connect, type Socket } from 'node:net';
import mqtt from 'mqtt-packet';

/**
 * Thousands of clients that listen, in their own process, so that their work does not slow down the measurement. It
 * receives one `Wanted`, sends `Opened` when all of them listen, and `Notified` when all of them have been notified.
 */
export interface Wanted {
  readonly httpPort: number;
  readonly mqttPort: number;
  readonly appId: string;
  /** Session ids, one for each client. */
  readonly streams: readonly string[];
  readonly mqttClients: readonly string[];
  /** The type of the event that each of them receives. */
  readonly type: string;
  /** Whether no event may follow it. */
  readonly isLast: boolean;
}

export interface Opened {
  readonly opened: number;
}

export interface Notified {
  /** When the last of them read its event, in milliseconds of the monotonic clock. */
  readonly notifiedAt: number;
  /** When the last of them read the end of its stream or connection, or null if they continue. */
  readonly endedAt: number | null;
  /** Processor time of the clients since they listened, in milliseconds. */
  readonly cpuMs: number;
}

const OPENED_AT_ONCE = 50;
const CLIENTS_AN_ADDRESS = 200;
const STREAM_END = Buffer.from('0\r\n\r\n');

/** Shared by all: its content has been processed before the next read. */
const buffer = Buffer.alloc(64 * 1024);
const steadyNow = () => Number(process.hrtime.bigint()) / 1e6;

process.once('message', (wanted: Wanted) => {
  const clients = [
    ...wanted.streams.map((sessionId) => () => openStream(wanted, sessionId)),
    ...wanted.mqttClients.map((sessionId, place) => () => openMqtt(wanted, sessionId, place)),
  ];
  void openAll(clients).then(() => {
    began = process.cpuUsage();
    listening = clients.length;
    process.send!({ opened: listening } satisfies Opened);
  });
});

let began = process.cpuUsage();
let listening = Infinity;
let notified = 0;
let ended = 0;
let notifiedAt = 0;
let endedAt = 0;

async function openAll(clients: readonly (() => Promise<void>)[]): Promise<void> {
  for (let first = 0; first < clients.length; first += OPENED_AT_ONCE)
    await Promise.all(clients.slice(first, first + OPENED_AT_ONCE).map((open) => open()));
}

/** What a client has received since it listens: everything up to its event, and a part of what follows. */
class Inbox {
  readonly #wanted: Wanted;
  readonly #type: Buffer;
  #before = '';
  #notified = false;
  #ended = false;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
    this.#type = Buffer.from(wanted.type);
  }

  take(bytes: Buffer): void {
    if (this.#notified) return;
    // The event arrives in one piece.
    if (!bytes.includes(this.#type)) return void (this.#before += bytes.toString('latin1'));
    this.#notified = true;
    notifiedAt = steadyNow();
    notified += 1;
    reportWhenAll(this.#wanted);
  }

  end(): void {
    if (!this.#notified) throw new Error(`ended before its event, after ${this.#before}`);
    if (this.#ended) throw new Error('ended twice');
    this.#ended = true;
    endedAt = steadyNow();
    ended += 1;
    reportWhenAll(this.#wanted);
  }
}

function reportWhenAll({ isLast }: Wanted): void {
  if (notified < listening || (isLast && ended < listening)) return;
  const { user, system } = process.cpuUsage(began);
  const report = { notifiedAt, endedAt: isLast ? endedAt : null, cpuMs: (user + system) / 1000 };
  process.send!(report satisfies Notified);
}

/** Opens a connection that reads into the shared buffer. */
function open(
  port: number,
  localAddress: string | undefined,
  onBytes: (bytes: Buffer, socket: Socket) => void,
  onEnd: () => void,
): Socket {
  const socket = connect({
    port,
    host: '127.0.0.1',
    ...(localAddress !== undefined && { localAddress }),
    onread: {
      buffer,
      callback(length) {
        onBytes(buffer.subarray(0, length), socket);
        return true;
      },
    },
  });
  socket.on('end', onEnd).on('error', () => {});
  return socket;
}

function openStream(wanted: Wanted, sessionId: string): Promise<void> {
  const inbox = new Inbox(wanted);
  const ready = Promise.withResolvers<void>();
  let isOpen = false;
  const onBytes = (bytes: Buffer) => {
    if (!isOpen) {
      const head = bytes.toString('latin1', 0, 15);
      if (head !== 'HTTP/1.1 200 OK') return ready.reject(new Error(bytes.toString()));
      isOpen = true;
      ready.resolve();
      return;
    }
    inbox.take(bytes);
    const end = bytes.length - STREAM_END.length;
    if (end >= 0 && bytes.compare(STREAM_END, 0, STREAM_END.length, end) === 0) inbox.end();
  };
  open(wanted.httpPort, undefined, onBytes, () => {}).write(
    `GET /api/v2/client/events HTTP/1.1\r\nHost: latchkey.test\r\nAuthorization: Bearer ${sessionId}\r\n\r\n`,
  );
  return ready.promise;
}

function openMqtt(wanted: Wanted, sessionId: string, place: number): Promise<void> {
  const inbox = new Inbox(wanted);
  const ready = Promise.withResolvers<void>();
  const { appId } = wanted;
  const topics = [`latchkey/v2/apps/${appId}/events`, `latchkey/v2/apps/${appId}/sessions/${sessionId}`];
  let packets = 0;
  const onBytes = (bytes: Buffer, socket: Socket) => {
    packets += 1;
    if (packets === 1) {
      if (bytes[3] !== 0) return ready.reject(new Error(`connack ${bytes.toString('hex')}`));
      const subscriptions = topics.map((topic) => ({ topic, qos: 0 as const }));
      return void socket.write(mqtt.generate({ cmd: 'subscribe', messageId: 1, subscriptions }));
    }
    if (packets > 2) return inbox.take(bytes);
    if (bytes.at(-1) !== 0) return ready.reject(new Error(`suback ${bytes.toString('hex')}`));
    ready.resolve();
  };
  const localAddress = `127.0.0.${2 + Math.floor(place / CLIENTS_AN_ADDRESS)}`;
  open(wanted.mqttPort, localAddress, onBytes, () => wanted.isLast && inbox.end()).write(
    mqtt.generate({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clean: true,
      clientId: '',
      keepalive: 0,
      username: appId,
      password: Buffer.from(sessionId),
    }),
  );
  return ready.promise;
}
