import { createMails } from '../../messaging/mails/mails.ts';
import { createOutboundHttp } from '../../platform/outbound-http/index.ts';
import { createRealtime } from '../../messaging/realtime/realtime.ts';
import { createBrokerFeed } from '../../messaging/relay/broker-feed.ts';
import { createRelay } from '../../messaging/relay/relay.ts';
import { createWebhooks } from '../../messaging/webhooks/webhooks.ts';
import type { Accounts } from './accounts.ts';
import type { Foundation } from './foundation.ts';
import type { Licensing } from './licensing.ts';

export type Messaging = ReturnType<typeof composeMessaging>;

/** How events and mail leave the service: webhooks, connected clients, an external broker, and SMTP. */
export function composeMessaging(before: Foundation & Accounts & Licensing) {
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
