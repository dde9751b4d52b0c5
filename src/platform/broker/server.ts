import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import { StartupError } from '../startup-error.ts';
import { connect, type BrokerAddress, type Connection } from './connection.ts';
import type { Link, Subscription } from './link.ts';

const RECONNECT_PAUSE_MS = 1_000;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'mqtt:': 1883, 'mqtts:': 8883 };

/**
 * Keeps a connection to a broker in the background until it is closed. Without a connection, another attempt begins one
 * second after the last one ended.
 *
 * @param options.brokerUrl as in BROKER_URL; its user and password never appear in an error or the log
 * @param options.clientId under which the broker knows this process
 * @param options.subscription the topic that its owner listens to
 * @throws StartupError if the address is not valid
 */
export function openServerBroker(options: {
  brokerUrl: string;
  clientId: string;
  subscription: Subscription;
  logger: Logger;
}): Link {
  const { clientId, subscription, logger } = options;
  const address = parseBrokerUrl(options.brokerUrl);
  const broker = `${address.host}:${address.port}`;
  const closing = new AbortController();
  const tried = Promise.withResolvers<void>();
  let current: Connection | undefined;

  async function stayConnected(): Promise<void> {
    let away = false;
    while (!closing.signal.aborted) {
      let reason: unknown;
      try {
        current = await connect({ address, clientId, subscription, signal: closing.signal });
        if (closing.signal.aborted) void current.end();
        if (away) logger.info({ broker }, 'the broker is reachable again');
        away = false;
        tried.resolve();
        reason = await current.ended;
      } catch (error) {
        reason = error;
      }
      current = undefined;
      if (!away && !closing.signal.aborted)
        logger.error({ broker, err: reason }, 'the broker is not reachable');
      away = true;
      tried.resolve();
      await delay(RECONNECT_PAUSE_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
  }
  const stopped = stayConnected();

  return {
    async publish(topic, payload, signal) {
      // Callers wait only at the start, while it is unknown whether the broker is reachable.
      if (!current) await tried.promise;
      if (!current) throw new Error('there is no connection');
      await current.publish(topic, payload, signal);
    },
    async close() {
      closing.abort();
      void current?.end();
      await stopped;
    },
  };
}

function parseBrokerUrl(brokerUrl: string): BrokerAddress {
  try {
    const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(brokerUrl);
    const defaultPort = DEFAULT_PORTS[protocol];
    if (defaultPort === undefined || hostname === '' || `${pathname}${search}${hash}`.length > 1) {
      throw invalidUrl();
    }
    return {
      tls: protocol === 'mqtts:',
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? defaultPort : Number(port),
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
    };
  } catch {
    // The error holds the whole address, password included.
    throw invalidUrl();
  }
}

function invalidUrl(): StartupError {
  return new StartupError(
    'BROKER_URL must be the address of an MQTT broker, such as mqtts://user:password@host:8883.',
  );
}
