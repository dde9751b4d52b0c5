import { beforeEach, describe, expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { CARDS, openTestShop, refused } from './support/test-shop.ts';

const { clock, knex, processor, open, order, buy, newFacts } = await openTestShop();

const days = (count: number) => clock.advance(count * DAY);
const { page, clearExpired, lookUpCheckout } = processor;

/** A checkout in each final state. */
async function ended() {
  const expired = (await processor.openCheckout(order())).sessionRef;
  const failed = (await buy(undefined, CARDS.delayedFailure)).sessionRef;
  const paid = await buy();
  days(1);
  await newFacts();
  expect((await page.view(expired))!.state).toBe('expired');
  expect((await page.view(failed))!.state).toBe('failed');
  return { expired, failed, paid };
}

beforeEach(async () => {
  days(100);
  await newFacts();
  while ((await clearExpired()) > 0);
});

describe('checkouts that were not paid', () => {
  test('are cleared 90 days after they expired', async () => {
    const { expired, failed } = await ended();
    days(89);
    expect(await clearExpired()).toBe(0);
    expect(await lookUpCheckout(expired)).toMatchObject([{ state: 'expired' }]);
    days(1);
    expect(await clearExpired()).toBe(2);
    for (const sessionRef of [expired, failed]) {
      expect(await page.view(sessionRef)).toBeUndefined();
      await refused(lookUpCheckout(sessionRef), 'not_found');
    }
    expect(await clearExpired()).toBe(0);
  });

  test('are cleared once by several nodes', async () => {
    await ended();
    days(100);
    const cleared = await Promise.all([processor, open(), open()].map((each) => each.clearExpired()));
    expect(cleared.reduce((sum, each) => sum + each)).toBe(2);
  });
});

describe('never cleared', () => {
  test('is a paid checkout with its receipt', async () => {
    const { paid } = await ended();
    const receipt = await page.receipt(paid.sessionRef);
    days(1_000);
    await clearExpired();
    expect(await page.receipt(paid.sessionRef)).toEqual(receipt);
    expect(receipt!.payments).toMatchObject([{ paymentRef: paid.paymentRef }]);
    expect(await lookUpCheckout(paid.sessionRef)).toMatchObject([{ state: 'paid' }]);
  });

  test('is a checkout whose end was not reported yet', async () => {
    const { sessionRef } = await processor.openCheckout(order());
    days(1_000);
    expect(await clearExpired()).toBe(0);
    expect(await knex('test_checkouts').where({ session_ref: sessionRef })).toMatchObject([
      { state: 'open' },
    ]);
  });
});
