import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import pLimit from 'p-limit';
import type { EventMessage } from '../../src/foundation/events/events.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { newSecret, signedHeaders } from '../../src/messaging/webhooks/signing.ts';
import { listen, runContender } from './contender.ts';
import { jsonListener } from './json-server.ts';
import { variableEvent } from './variable-event.ts';

/** As many as Latchkey sends to one endpoint. */
const REQUESTS_AT_ONCE = 10;

interface Endpoint {
  readonly webhook_id: string;
  readonly url: string;
  readonly secret: string;
  readonly limit: ReturnType<typeof pLimit>;
}

interface Body {
  readonly url: string;
  readonly since: string;
  readonly until: string;
}

const agent = new Agent({ keepAlive: true });
const endpoints = new Map<string, Endpoint>();
const events: EventMessage[] = [];

async function post({ url, secret }: Endpoint, event: EventMessage): Promise<void> {
  const payload = JSON.stringify(event);
  const headers = signedHeaders([secret], event.id, payload, systemClock.now());
  const sent = request(url, { method: 'POST', headers, agent }).end(payload);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
}

function send(endpoint: Endpoint, some: readonly EventMessage[]): void {
  for (const event of some) void endpoint.limit(() => post(endpoint, event));
}

/**
 * Posts what Latchkey would post, as fast as node:http can, and stores nothing: deliveries are lost if a receiver
 * does not respond or the process ends.
 */
runContender(() =>
  listen(
    jsonListener(({ url, since, until }: Body, { method, url: path = '' }) => {
      const [, id = '', replay] = /\/webhooks(?:\/([^/]+)(\/replay)?)?$/.exec(path) ?? [];
      if (method === 'PUT') {
        const event = variableEvent(path);
        events.push(event);
        for (const endpoint of endpoints.values()) send(endpoint, [event]);
        return {};
      }
      if (method === 'DELETE') {
        endpoints.delete(id);
        return {};
      }
      if (replay) {
        const some = events.filter(({ timestamp }) => timestamp >= since && timestamp < until);
        send(endpoints.get(id)!, some);
        return { replayed: some.length };
      }
      const webhook_id = String(endpoints.size);
      const secret = newSecret(systemRandom);
      endpoints.set(webhook_id, { webhook_id, url, secret, limit: pLimit(REQUESTS_AT_ONCE) });
      return { webhook_id };
    }),
  ),
);
