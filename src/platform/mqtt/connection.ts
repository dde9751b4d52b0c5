import { Duplex } from 'node:stream';
import mqtt, { type IConnectPacket, type Packet, type Parser } from 'mqtt-packet';

/** The largest packet that a client sends is the one with its token. */
export const MAX_PACKET_BYTES = 16 * 1024;
/** A client that leaves more than this unread is cut off: more than any burst of events that comes at once. */
const MAX_UNREAD_BYTES = 1024 * 1024;
const CLOSE_WITHIN_MS = 1_000;
/** A client that is silent for one and a half times as long is taken for dead. */
const MAX_KEEPALIVE_SECONDS = 1_200;

/** Reasons for ending a connection, as MQTT 5 has them (section 3.14.2.1). */
export const END_REASONS = {
  protocolError: 0x82,
  notAuthorized: 0x87,
  serverShuttingDown: 0x8b,
  packetTooLarge: 0x95,
  quotaExceeded: 0x97,
  administrativeAction: 0x98,
  maximumConnectTime: 0xa0,
  noSubscriptionIdentifiers: 0xa1,
} as const;
export type EndReason = keyof typeof END_REASONS;

const BAD_AUTHENTICATION_METHOD = 0x8c;
/** What CONNACK of MQTT 5 says instead of the return codes of 3.1.1. */
const CONNACK_REASONS = [0, 0x84, 0x85, 0x88, 0x86, 0x87];
const REFUSED_VERSION = 1;
const REFUSED = 5;

const MESSAGE = { cmd: 'publish', retain: false, dup: false } as const;
/** What clients of MQTT 5 are told of every message. */
const PROPERTIES = { payloadFormatIndicator: true, contentType: 'application/json' };

/** A message of QoS 0: written once for each version, however many clients get it. */
export class UnacknowledgedMessage {
  readonly topic: string;
  readonly payload: string;
  readonly #written = new Map<4 | 5, Buffer>();

  constructor(topic: string, payload: string) {
    this.topic = topic;
    this.payload = payload;
  }

  /** The packet. */
  bytes(protocolVersion: 4 | 5): Buffer {
    let bytes = this.#written.get(protocolVersion);
    if (!bytes) {
      const { topic, payload } = this;
      const packet: Packet = { ...MESSAGE, topic, payload, qos: 0 };
      if (protocolVersion === 5) packet.properties = PROPERTIES;
      bytes = mqtt.generate(packet, { protocolVersion });
      this.#written.set(protocolVersion, bytes);
    }
    return bytes;
  }
}

/**
 * A client's connection as a broker of MQTT 3.1.1 sees it. The client speaks that or MQTT 5, which is translated: only what a
 * subscriber needs of it. Whoever publishes, leaves a will, sends what is too large or reads too slowly is cut off here.
 */
export class MqttConnection extends Duplex {
  readonly #socket: Duplex;
  readonly #clientId: string;
  readonly #fromClient: Parser;
  readonly #fromBroker: Parser = mqtt.parser({ protocolVersion: 4 });
  /** What the client said at the beginning; undefined before. */
  #connect: IConnectPacket | undefined;
  #connected = false;
  /** Messages of QoS 1 that the client has not acknowledged. */
  readonly #inFlight = new Set<number>();
  /** How many topics each UNSUBSCRIBE under way names. */
  readonly #unsubscribing = new Map<number, number>();

  /** @param clientId under which the broker knows it, whatever the client calls itself: nobody takes another's place */
  constructor(socket: Duplex, clientId: string) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    this.#clientId = clientId;
    this.#fromClient = mqtt.parser();
    this.#fromClient.on('packet', (packet) => this.#receive(packet));
    this.#fromClient.on('error', (error: Error) => this.#onUnreadable(error));
    this.#fromBroker.on('packet', (packet) => this.#send(packet));
    socket.on('data', (bytes: Buffer) => {
      if (this.destroyed) return;
      if (this.#fromClient.parse(bytes) > MAX_PACKET_BYTES) this.endFor('packetTooLarge');
    });
    socket.on('end', () => this.destroyed || this.push(null));
    socket.on('error', () => this.destroy());
    socket.on('close', () => this.destroy());
    this.on('error', () => {});
  }

  get #isV5(): boolean {
    return this.#connect?.protocolVersion === 5;
  }

  /** In bytes, as a client of MQTT 5 may say it. */
  get #largestPacket(): number {
    return this.#connect?.properties?.maximumPacketSize ?? Infinity;
  }

  /** Sends a message that nobody acknowledges, past the broker. */
  sendUnacknowledged(message: UnacknowledgedMessage): void {
    if (this.destroyed) return;
    const bytes = message.bytes(this.#isV5 ? 5 : 4);
    if (bytes.length <= this.#largestPacket) this.#writeBytes(bytes);
  }

  /** Ends the connection, and says why to a client of MQTT 5. */
  endFor(reason: EndReason): void {
    if (this.destroyed) return;
    if (this.#isV5 && this.#connected) this.#write({ cmd: 'disconnect', reasonCode: END_REASONS[reason] });
    this.destroy();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#isV5) this.#fromBroker.parse(bytes);
    else this.#writeBytes(bytes);
    if (!this.#isV5 && bytes[0] === 0x20) this.#connected = true;
    done();
  }

  /** The parts in which the broker writes a packet: together they cost one frame of a WebSocket instead of one each. */
  override _writev(parts: { readonly chunk: Buffer }[], done: () => void): void {
    this._write(Buffer.concat(parts.map(({ chunk }) => chunk)), 'buffer' as BufferEncoding, done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const socket = this.#socket;
    if (!socket.destroyed) {
      if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
      else socket.end();
      setTimeout(() => socket.destroy(), CLOSE_WITHIN_MS).unref();
    }
    done(error);
  }

  /** Takes a packet of the client to the broker. */
  #receive(packet: Packet): void {
    if (this.destroyed) return;
    if ((packet.length ?? 0) > MAX_PACKET_BYTES) return this.endFor('packetTooLarge');
    switch (packet.cmd) {
      case 'connect':
        return this.#onConnect(packet);
      case 'subscribe': {
        if (packet.properties?.subscriptionIdentifier !== undefined)
          return this.endFor('noSubscriptionIdentifiers');
        const subscriptions = packet.subscriptions.map(({ topic, qos }) => ({ topic, qos }));
        return this.#toBroker({ cmd: 'subscribe', messageId: packet.messageId!, subscriptions });
      }
      case 'unsubscribe': {
        const { messageId, unsubscriptions } = packet;
        this.#unsubscribing.set(messageId!, unsubscriptions.length);
        return this.#toBroker({ cmd: 'unsubscribe', messageId: messageId!, unsubscriptions });
      }
      case 'puback':
        this.#inFlight.delete(packet.messageId!);
        return this.#toBroker({ cmd: 'puback', messageId: packet.messageId! });
      case 'pingreq':
        return this.#toBroker({ cmd: 'pingreq' });
      case 'disconnect':
        return void this.destroy();
      case 'publish':
        return this.endFor('notAuthorized');
      default:
        return this.endFor('protocolError');
    }
  }

  #onConnect(packet: IConnectPacket): void {
    if (this.#connect) return this.endFor('protocolError');
    this.#connect = packet;
    const { username, password, keepalive = 0, will, properties } = packet;
    if (properties?.authenticationMethod !== undefined)
      return this.#refuse(REFUSED, BAD_AUTHENTICATION_METHOD);
    if (will) return this.#refuse(REFUSED);
    this.#toBroker({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clean: true,
      clientId: this.#clientId,
      keepalive: keepaliveOf(keepalive),
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
    });
  }

  #refuse(returnCode: number, reasonCode = CONNACK_REASONS[returnCode]!): void {
    this.#write(
      this.#isV5
        ? { cmd: 'connack', reasonCode, sessionPresent: false }
        : { cmd: 'connack', returnCode, sessionPresent: false },
    );
    this.destroy();
  }

  #onUnreadable(error: Error): void {
    if (!this.#connect && /protocol version/i.test(error.message)) return this.#refuse(REFUSED_VERSION);
    this.endFor('protocolError');
  }

  #toBroker(packet: Packet): void {
    if (!this.push(mqtt.generate(packet, { protocolVersion: 4 }))) this.#socket.pause();
  }

  /** Takes a packet of the broker to a client of MQTT 5. */
  #send(packet: Packet): void {
    switch (packet.cmd) {
      case 'connack':
        return this.#sendConnack(packet.returnCode ?? 0);
      case 'suback': {
        const granted = (packet.granted as number[]).map((qos) =>
          qos === 128 ? END_REASONS.notAuthorized : qos,
        );
        return this.#write({ cmd: 'suback', messageId: packet.messageId!, granted });
      }
      case 'unsuback': {
        const topics = this.#unsubscribing.get(packet.messageId!) ?? 1;
        this.#unsubscribing.delete(packet.messageId!);
        return this.#write({
          cmd: 'unsuback',
          messageId: packet.messageId!,
          granted: Array<number>(topics).fill(0),
        } as unknown as Packet);
      }
      case 'publish': {
        const { topic, payload, qos, messageId } = packet;
        const message = { ...MESSAGE, topic, payload, properties: PROPERTIES } as const;
        const { receiveMaximum = 65_535 } = this.#connect!.properties ?? {};
        // What the client has room for; one that takes no more gets it unacknowledged, and still in order.
        const acknowledged = qos > 0 && this.#inFlight.size < receiveMaximum;
        const sent: Packet = acknowledged
          ? { ...message, qos: 1, messageId: messageId! }
          : { ...message, qos: 0 };
        const bytes = mqtt.generate(sent, { protocolVersion: 5 });
        if (bytes.length > this.#largestPacket) return;
        if (acknowledged) this.#inFlight.add(messageId!);
        return this.#writeBytes(bytes);
      }
      default:
        return this.#write(packet);
    }
  }

  #sendConnack(returnCode: number): void {
    if (returnCode !== 0) {
      const reasonCode = CONNACK_REASONS[returnCode] ?? END_REASONS.notAuthorized;
      return this.#write({ cmd: 'connack', reasonCode, sessionPresent: false });
    }
    this.#connected = true;
    const { clientId, keepalive = 0, properties } = this.#connect!;
    this.#write({
      cmd: 'connack',
      reasonCode: 0,
      sessionPresent: false,
      properties: {
        maximumQoS: 0,
        retainAvailable: false,
        wildcardSubscriptionAvailable: false,
        subscriptionIdentifiersAvailable: false,
        sharedSubscriptionAvailable: false,
        maximumPacketSize: MAX_PACKET_BYTES,
        ...(properties?.sessionExpiryInterval && { sessionExpiryInterval: 0 }),
        ...(clientId === '' && { assignedClientIdentifier: this.#clientId }),
        ...(keepaliveOf(keepalive) !== keepalive && { serverKeepAlive: keepaliveOf(keepalive) }),
      },
    });
  }

  #write(packet: Packet): void {
    this.#writeBytes(mqtt.generate(packet, { protocolVersion: this.#isV5 ? 5 : 4 }));
  }

  #writeBytes(bytes: Buffer): void {
    const socket = this.#socket;
    if (socket.writable) {
      // What comes in one turn of the event loop goes out in one piece.
      if (socket.writableCorked === 0) {
        socket.cork();
        process.nextTick(() => socket.uncork());
      }
      socket.write(bytes);
    }
    if (socket.writableLength > MAX_UNREAD_BYTES) this.destroy();
  }
}

function keepaliveOf(wanted: number): number {
  return wanted === 0 ? MAX_KEEPALIVE_SECONDS : Math.min(wanted, MAX_KEEPALIVE_SECONDS);
}
