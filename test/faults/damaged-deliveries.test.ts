import { expect, test } from 'vitest';
import { SECOND } from '../support/clock.ts';
import { newApp, newDeveloper } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import {
  agentsOf,
  getReceiver,
  newReceiver,
  publishRevocation,
} from '../webhooks/support/security-events.ts';
import { startReceiver } from '../webhooks/support/receiver.ts';
import { getDelivery, listDeliveries, LOOPBACK, newWebhook } from '../webhooks/support/webhooks.ts';

const service = await startTestService(LOOPBACK);
const { api, clock } = service;
const { knex } = service.database;

async function countOf(from: string): Promise<string | undefined> {
  const text = await (await fetch(`${api.baseUrl}/metrics`)).text();
  return new RegExp(`^latchkey_set_aside_events\\{from="${from}"\\} (\\d+)$`, 'm').exec(text)?.[1];
}

test('an endpoint whose secret is damaged gets its deliveries later, like after any failure', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const [receiver, others] = [await startReceiver(), await startReceiver()];
  const { webhook_id } = await newWebhook(api, app, receiver.url, ['license.created']);
  await newWebhook(api, other, others.url, ['license.created']);
  const [{ secret_sealed: sealed }] = await knex('webhooks').where({ webhook_id }).select('secret_sealed');
  const damaged = Buffer.from(sealed as Buffer);
  damaged[damaged.length - 1]! ^= 1;
  await knex('webhooks').where({ webhook_id }).update({ secret_sealed: damaged });

  await app.keys(1);
  const attempts = async () => {
    const [delivery] = await listDeliveries(api, app, webhook_id);
    return delivery && getDelivery(api, app, webhook_id, delivery.delivery_id);
  };
  await expect.poll(attempts).toMatchObject({
    state: 'pending',
    attempts: 1,
    error: 'The secret of the endpoint cannot be opened.',
  });
  const { next_attempt_at } = (await attempts())!;
  expect(Date.parse(next_attempt_at!)).toBeGreaterThanOrEqual(clock.now().getTime() + 5 * SECOND);
  await other.keys(1);
  await expect.poll(() => others.received.length).toBe(1);
  expect((await attempts())!.attempts).toBe(1);

  await knex('webhooks').where({ webhook_id }).update({ secret_sealed: sealed });
  clock.advance(10 * SECOND);
  await expect.poll(() => receiver.received.length).toBe(1);
});

test('a receiver of security events whose secret is damaged gets them later', async () => {
  const developer = await newDeveloper(api);
  const receiver = await startReceiver();
  const { receiver_id } = await newReceiver(api, developer, receiver.url, 'Bearer of-a-secret');
  const rows = () => knex('security_event_receivers').where({ receiver_id });
  const [{ authorization_sealed: sealed }] = await rows().select('authorization_sealed');
  const damaged = Buffer.from(sealed as Buffer);
  damaged[damaged.length - 1]! ^= 1;
  await rows().update({ authorization_sealed: damaged });
  await publishRevocation(service, developer);
  const fault = async () => (await getReceiver(api, developer, receiver_id))?.last_fault;
  await expect.poll(fault).toBe('The secret of the endpoint cannot be opened.');
  const [waiting] = await knex('security_event_deliveries').where({ receiver_id });
  expect(waiting).toMatchObject({ attempts: 1 });
  await rows().update({ authorization_sealed: sealed });
  clock.advance(10 * SECOND);
  await expect.poll(() => receiver.received.length).toBe(1);
});

test('a security event that cannot be sent is set aside and counted, and sent when it is repaired', async () => {
  const [developer, other] = [await newDeveloper(api), await newDeveloper(api)];
  const [receiver, others] = [await startReceiver(), await startReceiver()];
  const { receiver_id } = await newReceiver(api, developer, receiver.url);
  await newReceiver(api, other, others.url);
  await knex('security_event_receivers').where({ receiver_id }).update({ url: 'no address' });
  const { agentId } = await publishRevocation(service, developer);
  const faults = () => knex('security_event_deliveries').where({ receiver_id }).pluck('fault');
  await expect.poll(faults).toEqual([expect.stringMatching(/^It cannot be sent: /)]);
  expect(await countOf('security_events')).toBe('1');
  await publishRevocation(service, other);
  await expect.poll(() => others.received.length).toBe(1);

  // As documented in docs/operating.md.
  await knex('security_event_receivers').where({ receiver_id }).update({ url: receiver.url });
  await knex('security_event_deliveries').whereNotNull('fault').update({ fault: null });
  await expect.poll(() => agentsOf(receiver.received)).toEqual([agentId]);
  expect(await countOf('security_events')).toBe('0');
});
