import { createMails } from '../mails/mails.ts';
import { createOutboundHttp } from '../platform/outbound-http/index.ts';
import { createRealtime } from '../realtime/realtime.ts';
import { createBrokerFeed } from '../relay/broker-feed.ts';
import { createRelay } from '../relay/relay.ts';
import { createWebhooks } from '../webhooks/webhooks.ts';
import type { Accounts } from './accounts.ts';
import type { Foundation } from './foundation.ts';
import type { Licensing } from './licensing.ts';
import type { Products } from './products.ts';

export type Messages = ReturnType<typeof composeMessages>;

/** Who is told of what: webhooks, clients that listen, and a broker outside of events, people by mail. */
export function composeMessages(before: Foundation & Accounts & Licensing & Products) {
  const { config, database, broker, statistics } = before;
  const webhooks = createWebhooks({
    ...before,
    outbound: createOutboundHttp({ networks: config.webhookNetworks }),
  });
  const consumers = [statistics.count, webhooks.enqueue];
  const relay = createRelay({ ...before, listen: database.listen, consumers });
  return {
    webhooks,
    mails: createMails(before),
    relay,
    realtime: createRealtime({ ...before, relay, capacity: config.maxEventClients }),
    brokerFeed: broker.embedded ? undefined : createBrokerFeed({ ...before, relay }),
  };
}
