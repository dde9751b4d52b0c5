import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { Aedes, type AedesOptions, type Client } from 'aedes';
import type { Logger } from '../logger.ts';
import { MqttConnection, UnacknowledgedMessage, type EndReason } from './connection.ts';

export { MAX_PACKET_BYTES } from './connection.ts';

const CONNECT_WITHIN_MS = 10_000;
/** Return codes of CONNACK (MQTT 3.1.1, section 3.2.2.3). */
const RETURN_CODES = { unavailable: 3, notAuthorized: 5 } as const;

/** The connection of a client is refused. */
export class MqttRefusal extends Error {
  readonly reason: keyof typeof RETURN_CODES;

  constructor(reason: keyof typeof RETURN_CODES) {
    super(`MQTT: ${reason}`);
    this.reason = reason;
  }
}

/** The credentials that a client presents when it connects. */
export interface MqttCredentials {
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/** The server's end of a client's connection. */
export interface MqttPeer {
  /** Sends a message to a client that has subscribed to the topic, in the order of the calls. */
  send(topic: string, payload: string): void;
  /** Ends the connection after the pending messages are sent. */
  end(reason: EndReason): void;
}

/** What an admitted client may do. */
export interface MqttAccess {
  /** Whether the client may subscribe to a topic filter, wildcards included. */
  maySubscribe(topic: string): boolean;
  /** Called once, when the connection has ended. */
  closed(): void;
}

/** Decides which clients are admitted. @throws MqttRefusal */
export type Admission = (credentials: MqttCredentials, peer: MqttPeer) => Promise<MqttAccess>;

/** Serves clients that only subscribe, by MQTT 5 and 3.1.1. */
export interface MqttServer {
  /** Serves a client over any duplex connection: TCP, or the binary frames of a WebSocket. */
  accept(socket: Duplex, admission: Admission): void;
  /** Ends all connections. */
  close(): Promise<void>;
}

interface Served {
  readonly connection: MqttConnection;
  readonly admission: Admission;
  /** The subscriptions, each with its quality of service. */
  readonly topics: Map<string, 0 | 1>;
  access?: MqttAccess;
}

export async function openMqttServer(logger: Logger): Promise<MqttServer> {
  const served = new Map<unknown, Served>();
  let accepted = 0;
  let last = new UnacknowledgedMessage('', '');

  /** One message goes to many clients, one after the other. */
  function unacknowledged(topic: string, payload: string): UnacknowledgedMessage {
    if (last.topic !== topic || last.payload !== payload) last = new UnacknowledgedMessage(topic, payload);
    return last;
  }

  const options: AedesOptions = {
    connectTimeout: CONNECT_WITHIN_MS,
    authenticate(client, username, password, done) {
      void admit(client, { username, password: password?.toString() }).then(
        () => done(null, true),
        (error: unknown) => {
          const reason = error instanceof MqttRefusal ? error.reason : 'unavailable';
          if (!(error instanceof MqttRefusal))
            logger.error({ err: error }, 'an MQTT client could not be admitted');
          done(Object.assign(new Error(reason), { returnCode: RETURN_CODES[reason] }), false);
        },
      );
    },
    authorizeSubscribe(client, { topic, qos }, done) {
      const entry = of(client);
      if (!entry?.access?.maySubscribe(topic)) return done(null, null);
      const granted = qos === 0 ? 0 : 1;
      entry.topics.set(topic, granted);
      done(null, { topic, qos: granted });
    },
    authorizePublish: (_client, _packet, done) => done(new Error('clients publish nothing')),
  };
  const broker = await Aedes.createBroker(options);
  // The event is missing from the library's types, but without a listener it would end the process.
  (broker as EventEmitter).on('error', (error: Error) =>
    logger.error({ err: error }, 'the MQTT server failed'),
  );
  broker.on('unsubscribe', (topics, client) => {
    for (const topic of topics) of(client)?.topics.delete(topic);
  });

  function of(client: Client): Served | undefined {
    return served.get((client as Client & { conn: unknown }).conn);
  }

  async function admit(client: Client, credentials: MqttCredentials): Promise<void> {
    const entry = of(client);
    if (!entry) throw new MqttRefusal('notAuthorized');
    const { connection, admission } = entry;
    const access = await admission(credentials, peerOf(client, entry, unacknowledged));
    if (connection.destroyed) access.closed();
    else entry.access = access;
  }

  return {
    accept(socket, admission) {
      const connection = new MqttConnection(socket, `client-${(accepted += 1)}`);
      const entry: Served = { connection, admission, topics: new Map() };
      served.set(connection, entry);
      connection.once('close', () => {
        served.delete(connection);
        entry.access?.closed();
      });
      broker.handle(connection);
    },

    async close() {
      for (const { connection } of served.values()) connection.endFor('serverShuttingDown');
      await new Promise<void>((resolve) => broker.close(resolve));
    },
  };
}

function peerOf(
  client: Client,
  { connection, topics }: Served,
  unacknowledged: (topic: string, payload: string) => UnacknowledgedMessage,
): MqttPeer {
  return {
    send(topic, payload) {
      const qos = topics.get(topic);
      if (qos === undefined) return;
      if (qos === 0) return connection.sendUnacknowledged(unacknowledged(topic, payload));
      client.publish({ cmd: 'publish', topic, payload, qos, retain: false, dup: false }, () => {});
    },
    // The broker uses one iteration of the event loop for each message.
    end: (reason) => void setImmediate(() => setImmediate(() => connection.endFor(reason))),
  };
}
