import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { takeDueEvents } from '../../../src/platform/payments/test-processor/event-store.ts';
import { DAY, SECOND } from '../../support/clock.ts';
import { CARDS, openTestShop, pro, refused } from './support/test-shop.ts';

const shop = await openTestShop();
const { clock, receiver, processor, open, buy, workAll } = shop;
const SECRET = Buffer.alloc(32, 7);

/** The event of one purchase, as received. */
async function oneEvent() {
  await workAll();
  receiver.received.length = 0;
  await buy();
  await workAll();
  expect(receiver.received).toHaveLength(1);
  return receiver.received[0]!;
}

/** Signed like the processor's events. */
function signed(body: string | Buffer, secret = SECRET, at = clock.now()) {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const mac = createHmac('sha256', secret).update(`nt_1.${timestamp}.`).update(body).digest('base64');
  return {
    body: Buffer.from(body),
    headers: { 'webhook-id': 'nt_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` },
  };
}

test('an event is signed according to Standard Webhooks', async () => {
  const { body, headers } = await oneEvent();
  const message = JSON.parse(body.toString()) as object;
  expect(message).toMatchObject({ type: 'checkout.paid', account: 'acct_test', livemode: false });
  expect(headers['content-type']).toBe('application/json');
  expect(headers['webhook-timestamp']).toBe(String(Math.floor(clock.now().getTime() / 1000)));
  const id = headers['webhook-id'] as string;
  const expected = new Webhook(SECRET, { format: 'raw' }).sign(id, clock.now(), body.toString());
  expect(headers['webhook-signature']).toBe(expected);
  expect(await processor.readEvent(body, headers)).toMatchObject({ eventId: id, type: 'checkout.paid' });
});

test('an event is valid within five minutes of its time', async () => {
  const { body, headers } = await oneEvent();
  for (const [seconds, good] of [
    [300, true],
    [301, false],
    [-300, true],
    [-301, false],
  ] as const) {
    const moved = open({ clock: { now: () => new Date(clock.now().getTime() + seconds * SECOND) } });
    const read = moved.readEvent(body, headers);
    if (good) expect((await read)!.facts).toHaveLength(1);
    else await refused(read, 'signature');
  }
});

test('an event with the signature of another secret is refused', async () => {
  const { body, headers } = await oneEvent();
  const signatures = headers['webhook-signature'] as string;
  for (const changes of [
    { 'webhook-id': 'nt_other' },
    { 'webhook-timestamp': `${headers['webhook-timestamp'] as string}0` },
    { 'webhook-timestamp': `0x${Number(headers['webhook-timestamp']).toString(16)}` },
    { 'webhook-timestamp': 'NaN' },
    { 'webhook-signature': '' },
    { 'webhook-signature': signatures.slice(3) },
    { 'webhook-signature': `v1a,${signatures.slice(3)}` },
    { 'webhook-signature': [signatures] as never },
    { 'webhook-id': undefined },
  ]) {
    await refused(processor.readEvent(body, { ...headers, ...changes }), 'signature');
  }
  await refused(open({ signingSecret: Buffer.alloc(32, 8) }).readEvent(body, headers), 'signature');
  await refused(open({ account: 'acct_other' }).readEvent(body, headers), 'account');
  // A rotation of secrets: one of several signatures is ours.
  const several = { ...headers, 'webhook-signature': `v1,bm9uZQ== ${signatures}` };
  expect((await processor.readEvent(body, several))!.facts).toHaveLength(1);
});

test('a signed event about live payments or in another format is refused', async () => {
  const about = { type: 'x', account: 'acct_test', facts: [] };
  const real = signed(JSON.stringify({ ...about, livemode: true }));
  await refused(processor.readEvent(real.body, real.headers), 'account');
  const nothing = signed(JSON.stringify({ ...about, livemode: false }));
  expect(await processor.readEvent(nothing.body, nothing.headers)).toBeUndefined();
  for (const [body, fault] of [
    ['null', 'account'],
    ['no json', 'invalid'],
    ['', 'invalid'],
  ] as const) {
    const event = signed(body);
    await refused(processor.readEvent(event.body, event.headers), fault);
  }
});

test('an event is retried with growing delays, with a new signature each time', async () => {
  await workAll();
  receiver.received.length = 0;
  receiver.status = 500;
  onTestFinished(() => void (receiver.status = 204));
  await buy();
  await workAll();
  expect(receiver.received).toHaveLength(1);
  for (const seconds of [2, 15, 120, 600]) {
    const before = receiver.received.length;
    clock.advance(seconds * SECOND - 1);
    await workAll();
    expect(receiver.received).toHaveLength(before);
    clock.advance(1);
    await workAll();
    expect(receiver.received).toHaveLength(before + 1);
  }
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(1);
  const times = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']));
  expect(new Set(times).size).toBe(5);

  receiver.status = 299;
  clock.advance(DAY / 2);
  await workAll();
  expect(receiver.received).toHaveLength(6);
  const { body, headers } = receiver.received[5]!;
  expect((await processor.readEvent(body, headers))!.facts).toHaveLength(1);
  clock.advance(DAY);
  await workAll();
  expect(receiver.received).toHaveLength(6);
});

test('an event is dropped after 3 days', async () => {
  await workAll();
  receiver.received.length = 0;
  receiver.status = 307;
  onTestFinished(() => void (receiver.status = 204));
  await buy();
  const begun = clock.now().getTime();
  let last = begun;
  for (let hour = 0; hour < 24 * 7; hour += 1) {
    const before = receiver.received.length;
    await workAll();
    if (receiver.received.length > before) last = clock.now().getTime();
    clock.advance(3_600 * SECOND);
  }
  expect(last - begun).toBeGreaterThan(2.5 * DAY);
  expect(last - begun).toBeLessThan(3.5 * DAY);
});

test('an unreachable receiver gets the event later', async () => {
  await workAll();
  receiver.received.length = 0;
  const lost = open({ notifyUrl: () => 'http://127.0.0.1:1/' });
  await buy();
  await workAll(lost);
  expect(receiver.received).toHaveLength(0);
  clock.advance(5 * SECOND);
  await workAll();
  expect(receiver.received).toHaveLength(1);
});

test('several processes send each event once', async () => {
  await workAll();
  receiver.received.length = 0;
  await Promise.all(Array.from({ length: 30 }, () => buy()));
  await Promise.all([processor, open(), open()].map((each) => workAll(each)));
  expect(receiver.received).toHaveLength(30);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(30);
});

test('an event that a dead process was sending is sent by another one', async () => {
  await workAll();
  receiver.received.length = 0;
  await buy();
  const now = clock.now();
  // Taken by a process that then dies.
  const taken = await takeDueEvents(shop.knex, now, new Date(now.getTime() + 60 * SECOND), 10);
  expect(taken).toHaveLength(1);
  clock.advance(59 * SECOND);
  await workAll();
  expect(receiver.received).toHaveLength(0);
  clock.advance(SECOND);
  await workAll();
  expect(receiver.received).toHaveLength(1);
});

test('an event is sent right after it is written', async () => {
  await workAll();
  receiver.received.length = 0;
  const started = await processor.start();
  await buy(pro, CARDS.pays);
  await expect.poll(() => receiver.received.length).toBe(1);
  await started.stop();
  await buy(pro, CARDS.pays);
  expect(receiver.received).toHaveLength(1);
});
