import { connect as connectTcp, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { MqttClient, ReasonCodes } from 'mqtt';
import pLimit from 'p-limit';
import type { Subscription } from './link.ts';

const CONNECT_WITHIN_MS = 5_000;
const END_WITHIN_MS = 2_000;
/** A broker that is silent for one and a half times this long counts as dead. */
const KEEPALIVE_SECONDS = 5;
/** The Receive Maximum of a broker that does not specify one (MQTT 5, 3.2.2.3.3). */
const RECEIVE_MAXIMUM = 65_535;
/** Refusals of our protocol version: by a broker that supports only 3.1.1, and by one that reports it in version 5. */
const VERSION_REFUSALS = new Set<unknown>([1, 132]);

export interface BrokerAddress {
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
}

/** One connection, from the moment it is usable until it ends; it never reconnects. */
export interface Connection {
  /** As `publish` of a link. */
  publish(topic: string, payload: string, signal: AbortSignal): Promise<void>;
  /** Resolves with the reason when the connection ends. */
  readonly ended: Promise<Error>;
  /** Waits for pending publications, disconnects and ends; after 2 s it ends without waiting. */
  end(): Promise<void>;
}

interface Options {
  readonly address: BrokerAddress;
  readonly clientId: string;
  readonly subscription: Subscription;
  /** Aborts the attempt; a connection that is already established stays. */
  readonly signal: AbortSignal;
}

/**
 * Connects by MQTT 5, or by 3.1.1 if the broker does not support MQTT 5, and subscribes. Sessions and messages of
 * earlier connections are discarded.
 * @throws Error if the broker refuses, or if one version takes longer than 5 s
 */
export async function connect(options: Options): Promise<Connection> {
  try {
    return await connectAs(5, options);
  } catch (error) {
    if (!VERSION_REFUSALS.has((error as { code?: unknown }).code)) throw error;
    return connectAs(4, options);
  }
}

async function connectAs(protocolVersion: 4 | 5, options: Options): Promise<Connection> {
  const { address, clientId, subscription, signal } = options;
  const { username, password } = address;
  signal.throwIfAborted();
  const client = new MqttClient(() => openSocket(address), {
    protocolVersion,
    clientId,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    clean: true,
    keepalive: KEEPALIVE_SECONDS,
    connectTimeout: CONNECT_WITHIN_MS,
    reconnectPeriod: 0,
    // The default logger prints whole packets, passwords included, when DEBUG is set.
    log: () => {},
  });

  const { promise: ended, resolve: setEnded } = Promise.withResolvers<Error>();
  let reason: Error | undefined;
  let over = false;
  const abandon = (error: Error): void => {
    reason ??= error;
    client.stream.destroy();
  };
  client.on('error', abandon);
  client.on('disconnect', ({ reasonCode }) => {
    const why = (ReasonCodes as Readonly<Record<number, string>>)[reasonCode ?? 0] || `reason ${reasonCode}`;
    reason ??= new Error(`the broker ended the connection: ${why}`);
  });
  client.on('close', () => {
    over = true;
    // Rejects the pending publications.
    client.end(true);
    setEnded(reason ?? new Error('the connection was closed'));
  });
  client.on('message', (topic, payload) => {
    if (topic === subscription.topic) subscription.receive(payload.toString());
  });

  const ready = Promise.withResolvers<number>();
  client.on('connect', ({ properties }) => {
    client.subscribe(subscription.topic, { qos: 1 }, (error) => {
      if (error) abandon(error);
      else ready.resolve(properties?.receiveMaximum || RECEIVE_MAXIMUM);
    });
  });
  const giveUp = () => abandon(new Error('the connection attempt was aborted'));
  signal.addEventListener('abort', giveUp);
  const timer = setTimeout(() => abandon(new Error('the broker does not respond')), CONNECT_WITHIN_MS);
  let receiveMaximum: number;
  try {
    receiveMaximum = await Promise.race([ready.promise, ended.then((error) => Promise.reject(error))]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }

  const window = pLimit(receiveMaximum);
  return {
    publish: (topic, payload, unwanted) =>
      window(async () => {
        if (over) throw new Error('the connection was closed');
        if (!unwanted.aborted) await client.publishAsync(topic, payload, { qos: 1 });
      }),
    ended,
    async end() {
      const byForce = setTimeout(() => client.stream.destroy(), END_WITHIN_MS);
      client.end();
      await ended;
      clearTimeout(byForce);
    },
  };
}

function openSocket({ tls, host, port }: BrokerAddress): Duplex {
  if (!tls) return connectTcp({ host, port, noDelay: true });
  return connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }) }).setNoDelay();
}
