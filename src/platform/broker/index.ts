import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import { openEmbeddedBroker } from './embedded.ts';
import { BrokerUnavailableError } from './errors.ts';
import type { Link } from './link.ts';
import { openServerBroker } from './server.ts';

export { BrokerUnavailableError } from './errors.ts';

const ANSWER_WITHIN_MS = 2_000;
const CLOSE_WITHIN_MS = 3_000;

const TOPIC = /^(?!\$)[^+#\p{Cc}\p{Cs}]+$/u;
const LONGEST_TOPIC_BYTES = 65_535;
const MOST_TOPIC_LEVELS = 100;

/** Passes messages on to whoever has subscribed to them (MQTT). Nothing that must be correct may depend on it. */
export interface Broker {
  /** Whether it is the one inside this process. */
  readonly embedded: boolean;
  /**
   * Publishes with QoS 1. Resolves when the broker has taken the message; rejects within 2 s otherwise, and then it may
   * have been taken all the same.
   * @throws TypeError when nothing can be published to that topic
   * @throws BrokerUnavailableError
   */
  publish(topic: string, payload: string): Promise<void>;
  /**
   * Resolves when the broker has passed a message on, from us to us; rejects within 2 s otherwise, at once when it is known
   * to be away. Calls at the same time share one message.
   * @throws BrokerUnavailableError
   */
  ping(): Promise<void>;
  /** Ends the connection or the embedded broker, within 3 s. Calling it again does nothing more. */
  close(): Promise<void>;
}

/**
 * Opens the broker: a server by its address, else one inside the process. Never waits for a server, and never fails because
 * it is away: the connection is made, and made again, in the background.
 *
 * @param options.brokerUrl `mqtt://…` or `mqtts://…`; undefined for the embedded one
 * @param options.nodeId tells this process from all others that use the same broker: of two with one id, the broker keeps
 *   ending the connection of the other
 * @throws StartupError when the address is not one of an MQTT broker
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
      await inTime((signal) => link.publish(topic, payload, signal));
    },
    async ping() {
      if (closed) throw new BrokerUnavailableError();
      await (pinging ??= inTime(roundTrip).finally(() => (pinging = undefined)));
    },
    close: () => (closed ??= closeInTime(link)),
  };
}

/** A server ends the connection of a client that breaks these rules: all that others have under way would fail with it. */
function checkTopic(topic: string): void {
  const publishable =
    TOPIC.test(topic) &&
    Buffer.byteLength(topic) <= LONGEST_TOPIC_BYTES &&
    topic.split('/').length <= MOST_TOPIC_LEVELS;
  if (!publishable) throw new TypeError(`Nothing can be published to the topic ${JSON.stringify(topic)}`);
}

async function inTime(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const late = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = () => {
    late.abort();
    reject(new Error(`no answer within ${ANSWER_WITHIN_MS} ms`));
  };
  // A turn later: an answer that arrived while this process was held up is read first.
  const timer = setTimeout(() => setImmediate(giveUp), ANSWER_WITHIN_MS);
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
