import type { EventEmitter } from 'node:events';
import { Aedes } from 'aedes';
import type { Logger } from '../logger.ts';
import type { Link, Subscription } from './link.ts';

/**
 * Starts a broker inside this process. It has no listener: messages reach only subscribers in this process.
 * @param subscription the topic that its owner listens to
 */
export async function openEmbeddedBroker(subscription: Subscription, logger: Logger): Promise<Link> {
  const aedes = await Aedes.createBroker();
  // The event is missing from the library's types, but without a listener it would end the process.
  (aedes as EventEmitter).on('error', (error: Error) => {
    logger.error({ err: error }, 'the embedded broker failed');
  });
  await new Promise<void>((resolve) => {
    aedes.subscribe(
      subscription.topic,
      (packet, done) => {
        subscription.receive(packet.payload.toString());
        done();
      },
      resolve,
    );
  });
  return {
    publish: (topic, payload) =>
      new Promise((resolve, reject) => {
        aedes.publish({ cmd: 'publish', topic, payload, qos: 1, dup: false, retain: false }, (error) =>
          error ? reject(error) : resolve(),
        );
      }),
    close: () => new Promise((resolve) => aedes.close(resolve)),
  };
}
