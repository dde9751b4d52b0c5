import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import { openEmbeddedBroker } from './embedded.ts';
import { BrokerUnavailableError } from './errors.ts';
import type { Link } from './link.ts';
import { openServerBroker } from './server.ts';

export { BrokerUnavailableError } from './errors.ts';

const RESPONSE_TIMEOUT_MS = 2_000;
const CLOSE_WITHIN_MS = 3_000;

const TOPIC = /^(?!\$)[^+#\p{Cc}\p{Cs}]+$/u;
const LONGEST_TOPIC_BYTES = 65_535;
const MOST_TOPIC_LEVELS = 100;

/** Delivers messages to their subscribers (MQTT). Correctness must not depend on it: messages can get lost. */
export interface Broker {
  /** Whether the broker runs inside this process. */
  readonly embedded: boolean;
  /**
   * Publishes with QoS 1. Resolves when the broker has acknowledged the message. Otherwise it rejects within 2 s; the
   * broker may still have received the message.
   * @throws TypeError if the topic is not valid
   * @throws BrokerUnavailableError
   */
  publish(topic: string, payload: string): Promise<void>;
  /**
   * Resolves when the broker has delivered a message from this process to itself. Otherwise it rejects within 2 s, or
   * at once if there is no connection. Concurrent calls share one message.
   * @throws BrokerUnavailableError
   */
  ping(): Promise<void>;
  /** Ends the connection or the embedded broker, within 3 s. Further calls have no effect. */
  close(): Promise<void>;
}

/**
 * Opens the broker: a server by its address, otherwise one inside the process. An unreachable server neither delays nor
 * fails the start: the connection is made, and made again, in the background.
 *
 * @param options.brokerUrl `mqtt://…` or `mqtts://…`; undefined for the embedded one
 * @param options.nodeId distinguishes this process from all others at the same broker: two with one id would keep
 *   disconnecting each other
 * @throws StartupError if the address is not that of an MQTT broker
 */
export async function openBroker(options: {
  brokerUrl: string | undefined;
  nodeId: string;
  logger: Logger;
}): Promise<Broker> {
  const { brokerUrl, nodeId, logger } = options;
  const healthTopic = `latchkey/v2/health/${nodeId}`;
  checkTopic(healthTopic);

  let rounds = 0;
  let awaited: { readonly payload: string; readonly arrived: () => void } | undefined;
  const subscription = {
    topic: healthTopic,
    receive: (payload: string) => {
      if (payload === awaited?.payload) awaited.arrived();
    },
  };
  const link: Link =
    brokerUrl === undefined
      ? await openEmbeddedBroker(subscription, logger)
      : openServerBroker({ brokerUrl, clientId: `latchkey-${nodeId}`, subscription, logger });

  const roundTrip = async (signal: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const payload = String((rounds += 1));
    awaited = { payload, arrived: resolve };
    await Promise.all([link.publish(healthTopic, payload, signal), promise]);
  };

  let pinging: Promise<void> | undefined;
  let closed: Promise<void> | undefined;
  return {
    embedded: brokerUrl === undefined,
    async publish(topic, payload) {
      checkTopic(topic);
      if (closed) throw new BrokerUnavailableError();
      await withTimeout((signal) => link.publish(topic, payload, signal));
    },
    async ping() {
      if (closed) throw new BrokerUnavailableError();
      await (pinging ??= withTimeout(roundTrip).finally(() => (pinging = undefined)));
    },
    close: () => (closed ??= closeInTime(link)),
  };
}

/** A server disconnects a client that breaks these rules, which would fail all its pending publications. */
function checkTopic(topic: string): void {
  const publishable =
    TOPIC.test(topic) &&
    Buffer.byteLength(topic) <= LONGEST_TOPIC_BYTES &&
    topic.split('/').length <= MOST_TOPIC_LEVELS;
  if (!publishable) throw new TypeError(`Nothing can be published to the topic ${JSON.stringify(topic)}`);
}

async function withTimeout(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const late = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = () => {
    late.abort();
    reject(new Error(`no response within ${RESPONSE_TIMEOUT_MS} ms`));
  };
  // One iteration later, so that a response that arrived while this process was busy is read first.
  const timer = setTimeout(() => setImmediate(giveUp), RESPONSE_TIMEOUT_MS);
  try {
    await Promise.race([work(late.signal), promise]);
  } catch (cause) {
    throw new BrokerUnavailableError(cause);
  } finally {
    clearTimeout(timer);
  }
}

async function closeInTime(link: Link): Promise<void> {
  const over = new AbortController();
  const tooLate = delay(CLOSE_WITHIN_MS, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([link.close(), tooLate]);
  over.abort();
}
