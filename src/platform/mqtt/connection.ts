import { Duplex } from 'node:stream';
import mqtt, { type IConnectPacket, type Packet, type Parser } from 'mqtt-packet';

/** The largest packet that a client sends is the one with its token. */
export const MAX_PACKET_BYTES = 16 * 1024;
/** A client that leaves more than this unread is disconnected: it is larger than any burst of events. */
const MAX_UNREAD_BYTES = 1024 * 1024;
const CLOSE_WITHIN_MS = 1_000;
/** A client that is silent for one and a half times this long counts as dead. */
const MAX_KEEPALIVE_SECONDS = 1_200;

/** Reason codes of DISCONNECT in MQTT 5 (section 3.14.2.1). */
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
/** Reason codes of CONNACK in MQTT 5 for the return codes of 3.1.1. */
const CONNACK_REASONS = [0, 0x84, 0x85, 0x88, 0x86, 0x87];
const REFUSED_VERSION = 1;
const REFUSED = 5;

const MESSAGE = { cmd: 'publish', retain: false, dup: false } as const;
/** Properties of every message to clients of MQTT 5. */
const PROPERTIES = { payloadFormatIndicator: true, contentType: 'application/json' };

/** A message of QoS 0: encoded once for each protocol version, for any number of clients. */
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
 * A client's connection as a broker of MQTT 3.1.1 sees it. The client uses 3.1.1, or the part of MQTT 5 that a
 * subscriber needs, which is translated. A client that publishes, leaves a will, sends too much or reads too slowly
 * is disconnected.
 */
export class MqttConnection extends Duplex {
  readonly #socket: Duplex;
  readonly #clientId: string;
  readonly #fromClient: Parser;
  readonly #fromBroker: Parser = mqtt.parser({ protocolVersion: 4 });
  /** The CONNECT packet of the client; undefined until it arrives. */
  #connect: IConnectPacket | undefined;
  #connected = false;
  /** Messages of QoS 1 that the client has not acknowledged. */
  readonly #inFlight = new Set<number>();
  /** How many topics each pending UNSUBSCRIBE names. */
  readonly #unsubscribing = new Map<number, number>();

  /** @param clientId replaces the client's own id in the broker, so that no client can displace another */
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

  /** In bytes, as a client of MQTT 5 can specify it. */
  get #largestPacket(): number {
    return this.#connect?.properties?.maximumPacketSize ?? Infinity;
  }

  /** Sends a message of QoS 0, bypassing the broker. */
  sendUnacknowledged(message: UnacknowledgedMessage): void {
    if (this.destroyed) return;
    const bytes = message.bytes(this.#isV5 ? 5 : 4);
    if (bytes.length <= this.#largestPacket) this.#writeBytes(bytes);
  }

  /** Ends the connection, and sends the reason to a client of MQTT 5. */
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

  /** The broker writes a packet in parts: sent together, they need one WebSocket frame instead of one each. */
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

  /** Passes a packet of the client to the broker. */
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

  /** Passes a packet of the broker to a client of MQTT 5. */
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
        // Beyond the client's Receive Maximum, messages are sent unacknowledged, still in order.
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
      // Packets of one iteration of the event loop are sent together.
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
