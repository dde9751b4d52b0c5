import { describe, expect, test } from 'vitest';
import { DAY, SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { CARDS, form, last, monthly, only, openTestShop, pro, refused } from './support/test-shop.ts';

const shop = await openTestShop();
const { clock, processor, open, order, buy, newFacts, workAll } = shop;

describe('a checkout', () => {
  test('has an unguessable URL, which is the same for the same reference', async () => {
    const wanted = order();
    const both = await Promise.all([processor.openCheckout(wanted), open().openCheckout(wanted)]);
    expect(both[0]).toEqual(both[1]);
    const { sessionRef, url } = both[0];
    expect(url).toBe(`https://latchkey.example.com/pay/${sessionRef}`);
    // 192 bits.
    expect(sessionRef).toMatch(/^cs_test_[\w-]{32}$/);
  });

  test.each(['javascript:alert(1)', 'data:text/html,x', '/relative', ''])(
    'never leads back to %j',
    async (url) => {
      await refused(processor.openCheckout(order(pro, { successUrl: url })), 'invalid');
      await refused(processor.openCheckout(order(pro, { cancelUrl: url })), 'invalid');
    },
  );

  test.each([0, -1, 1.5, NaN])('cannot have the amount %d', async (amountMinor) => {
    await refused(processor.openCheckout(order({ ...pro, amountMinor })), 'invalid');
  });

  test('must have a currency that exists', async () => {
    await refused(processor.openCheckout(order({ ...pro, currency: 'XQX' })), 'invalid');
  });

  test('cannot be paid after it expires', async () => {
    const { sessionRef } = await processor.openCheckout(order());
    clock.advance(3_600 * SECOND - 1);
    await newFacts();
    clock.advance(1);
    // No process has expired it yet.
    expect((await processor.page.pay(sessionRef, form(CARDS.pays)))!.checkout.state).toBe('expired');
    const facts = only(await newFacts(), 'checkout').filter((each) => each.sessionRef === sessionRef);
    expect(facts).toMatchObject([{ state: 'expired', paymentRef: null }]);
  });

  test('stores no card number', async () => {
    await buy();
    await buy(pro, CARDS.delayed);
    const client = await connectTo(shop.databaseUrl);
    const tables = ['checkouts', 'subscriptions', 'invoices', 'payments', 'refunds'];
    for (const table of [...tables.map((name) => `test_${name}`), 'test_notices']) {
      const { rows } = await client.query(`select t::text as row from ${table} t`);
      expect(JSON.stringify(rows)).not.toMatch(/42424242|00000077|4242 4242/);
    }
    await newFacts();
  });
});

describe('a card', () => {
  test('pays', async () => {
    await newFacts();
    const { sessionRef, result, paymentRef } = await buy();
    expect(result).toMatchObject({ checkout: { state: 'paid' } });
    expect(await newFacts()).toEqual([
      {
        kind: 'checkout',
        sessionRef,
        reference: expect.any(String),
        state: 'paid',
        amountMinor: 4_990,
        currency: 'EUR',
        paymentRef,
        subscriptionRef: null,
        customerRef: expect.any(String),
        receiptUrl: `https://latchkey.example.com/pay/${sessionRef}/receipt`,
      },
    ]);
  });

  test('is declined, and another one pays', async () => {
    const { sessionRef, result } = await buy(pro, CARDS.declined);
    expect(result).toMatchObject({ checkout: { state: 'open' }, declined: expect.any(String) });
    expect(await newFacts()).toEqual([]);
    await processor.page.pay(sessionRef, form(CARDS.pays));
    expect(last(await newFacts(), 'checkout')).toMatchObject({ sessionRef, state: 'paid' });
  });

  test.each([true, false])('requires approval by the bank, which approves: %s', async (approved) => {
    const { sessionRef, result } = await buy(pro, CARDS.authenticates);
    expect(result.checkout.state).toBe('authenticating');
    expect(last(await processor.lookUpCheckout(sessionRef), 'checkout').state).toBe('open');
    expect(await newFacts()).toEqual([]);
    const received = (await processor.page.authenticate(sessionRef, approved))!;
    expect(received.checkout.state).toBe(approved ? 'paid' : 'open');
    expect(received.declined === undefined).toBe(approved);
    expect((await newFacts()).length).toBe(approved ? 1 : 0);
    // A second decision has no effect.
    expect((await processor.page.authenticate(sessionRef, true))!.checkout.state).toBe(
      approved ? 'paid' : 'open',
    );
  });

  test.each([
    [CARDS.delayed, 'paid'],
    [CARDS.delayedFailure, 'failed'],
  ])('takes 30 seconds: %s is %s', async (number, state) => {
    clock.advance(DAY);
    await newFacts();
    const { sessionRef, checkout } = await buy(pro, number);
    expect(checkout).toMatchObject({ state: 'processing', paymentRef: null });
    expect(only(await newFacts(), 'checkout').map((each) => each.state)).toEqual(['processing']);
    clock.advance(30 * SECOND - 1);
    expect(await newFacts()).toEqual([]);
    clock.advance(1);
    expect(only(await newFacts(), 'checkout')).toMatchObject([{ sessionRef, state }]);
    expect(last(await processor.lookUpCheckout(sessionRef), 'checkout').state).toBe(state);
  });

  test('pays, and the bank opens a dispute shortly afterwards', async () => {
    const { paymentRef } = await buy(pro, CARDS.disputed);
    expect(only(await newFacts(), 'dispute')).toEqual([]);
    clock.advance(10 * SECOND);
    const opened = last(await newFacts(), 'dispute');
    expect(opened).toMatchObject({ paymentRef, state: 'open' });
    await refused(processor.openDispute(paymentRef), 'invalid');
    await processor.closeDispute(paymentRef, false);
    const lost = last(await newFacts(), 'dispute');
    expect(lost.state).toBe('lost');
    expect(lost.asOf.getTime()).toBeGreaterThan(opened.asOf.getTime());
    await refused(processor.closeDispute(paymentRef, true), 'invalid');
    await refused(processor.refund(paymentRef, undefined, 'a lost one'), 'declined');
  });

  test.each([
    [{ number: '5555 5555 5555 4444' }, { number: expect.stringContaining('not a test card') }],
    [{ number: '4242 4242 4242 4241' }, { number: expect.stringContaining('Check the digits') }],
    [{ number: '' }, { number: expect.stringContaining('Enter') }],
    [{ number: '٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢' }, { number: expect.any(String) }],
    [{ name: '  ' }, { name: expect.any(String) }],
    [{ expiry: '13 / 30' }, { expiry: expect.any(String) }],
    [{ expiry: '10/26' }, { expiry: expect.stringContaining('expired') }],
    [{ expiry: '1 / 99' }, { expiry: expect.any(String) }],
    [{ expiry: 'soon' }, { expiry: expect.any(String) }],
    [{ cvc: '12' }, { cvc: expect.any(String) }],
    [{ cvc: '12345' }, { cvc: expect.any(String) }],
    [
      { number: '1', expiry: '', cvc: 'x', name: '' },
      {
        number: expect.any(String),
        expiry: expect.any(String),
        cvc: expect.any(String),
        name: expect.any(String),
      },
    ],
  ])('with %j is refused', async (changes, faults) => {
    const { sessionRef } = await processor.openCheckout(order());
    const result = await processor.page.pay(sessionRef, { ...form(CARDS.pays), ...changes });
    expect(result!.faults).toEqual(faults);
    expect(result!.checkout.state).toBe('open');
  });

  test.each(['11/26', '1126', '12 / 2026', '1-27', ' 12 / 30 '])('is valid until %j', async (expiry) => {
    const { sessionRef } = await processor.openCheckout(order());
    const result = await processor.page.pay(sessionRef, { ...form(CARDS.pays), expiry, cvc: '1234' });
    expect(result!.faults).toBeUndefined();
    expect(result!.checkout.state).toBe('paid');
  });
});

describe('exactly once', () => {
  test('a form that is submitted repeatedly to two processes pays once', async () => {
    await newFacts();
    const processors = [processor, open()];
    const { sessionRef } = await processor.openCheckout(order(monthly));
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => processors[index % 2]!.page.pay(sessionRef, form(CARDS.pays))),
    );
    expect(new Set(results.map((result) => result!.checkout.state))).toEqual(new Set(['paid']));
    const facts = await newFacts();
    expect(only(facts, 'checkout')).toHaveLength(1);
    expect(only(facts, 'invoice')).toHaveLength(1);
    expect(only(facts, 'subscription')).toHaveLength(1);
    expect((await processor.page.receipt(sessionRef))!.payments).toHaveLength(1);
  });

  test('a due row is processed by one of several processes', async () => {
    const sales = await Promise.all(Array.from({ length: 12 }, () => buy(pro, CARDS.delayed)));
    await newFacts();
    clock.advance(30 * SECOND);
    const processors = [processor, open(), open()];
    await Promise.all(processors.map((each) => workAll(each)));
    const paid = only(await newFacts(), 'checkout');
    expect(paid.map(({ sessionRef }) => sessionRef).sort()).toEqual(
      sales.map(({ sessionRef }) => sessionRef).sort(),
    );
  });
});

describe('a refund', () => {
  test('never exceeds the payment, even with concurrent requests', async () => {
    const { paymentRef } = await buy();
    await newFacts();
    const processors = [processor, open()];
    const requested = Array.from({ length: 12 }, (_, index) =>
      processors[index % 2]!.refund(paymentRef, 1_000, `${paymentRef}:${index}`),
    );
    const settled = await Promise.allSettled(requested);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    const sums = only(await newFacts(), 'refund').map(({ refundedMinor }) => refundedMinor);
    expect(sums.sort()).toEqual([1_000, 2_000, 3_000, 4_000]);
    await processor.refund(paymentRef, undefined, `${paymentRef}:rest`);
    expect(last(await newFacts(), 'refund').refundedMinor).toBe(4_990);
    await refused(processor.refund(paymentRef, undefined, `${paymentRef}:more`), 'declined');
    await refused(processor.openDispute(paymentRef), 'invalid');
  });

  test('is made once for a key', async () => {
    const { paymentRef } = await buy();
    const another = await buy();
    await newFacts();
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        [processor, open()][index % 2]!.refund(paymentRef, 700, `${paymentRef}:once`),
      ),
    );
    expect(only(await newFacts(), 'refund').map(({ refundedMinor }) => refundedMinor)).toEqual([700]);
    await refused(processor.refund(paymentRef, 701, `${paymentRef}:once`), 'invalid');
    await refused(processor.refund(another.paymentRef, 700, `${paymentRef}:once`), 'invalid');
    await refused(processor.refund(paymentRef, 0, `${paymentRef}:zero`), 'invalid');
    await refused(processor.refund(paymentRef, -5, `${paymentRef}:negative`), 'invalid');
    await refused(processor.refund(paymentRef, 1.5, `${paymentRef}:half`), 'invalid');
  });

  test('before a dispute leaves nothing to dispute', async () => {
    const { paymentRef } = await buy(pro, CARDS.disputed);
    await processor.refund(paymentRef, undefined, `${paymentRef}:all`);
    clock.advance(DAY);
    expect(only(await newFacts(), 'dispute')).toEqual([]);
  });
});

describe('a machine payment', () => {
  const request = { key: 'c1', token: 'spt_test_1', amount: '1000', currency: 'USDC', description: 'Pro' };

  test('is made once for a key, and once with a token', async () => {
    const [charge, ...same] = await Promise.all(
      Array.from({ length: 8 }, (_, index) => [processor, open()][index % 2]!.charge(request)),
    );
    expect(charge!.paidAt).toEqual(clock.now());
    expect(new Set(same.map(({ paymentRef }) => paymentRef))).toEqual(new Set([charge!.paymentRef]));
    await refused(processor.charge({ ...request, key: 'c2' }), 'declined');
    await refused(processor.charge({ ...request, amount: '1001' }), 'invalid');
    await processor.refund(charge!.paymentRef, undefined, 'c1:refund');
    expect(last(await newFacts(), 'refund')).toMatchObject({ refundedMinor: 1_000, currency: 'USDC' });
  });

  test.each(['spt_test_declined', 'spt_test_declined_2', 'spt_test_', 'spt_live_1', 'x', ''])(
    'with the token %j is declined',
    async (token) => {
      await refused(processor.charge({ ...request, key: `c:${token}`, token }), 'declined');
    },
  );

  test.each(['0', '-1', '1.5', '1e3', '', '1000000000000000'])(
    'of the amount %j is refused',
    async (amount) => {
      const token = `spt_test_amount_${amount}`;
      await refused(processor.charge({ ...request, key: `a:${amount}`, token, amount }), 'invalid');
    },
  );
});
