import { expect, test } from 'vitest';
import { SECOND } from '../../support/clock.ts';
import { CARDS, form, last, monthly, openTestShop, pro } from './support/test-shop.ts';

const shop = await openTestShop('2027-01-10T12:00:00.000Z');
const { clock, processor, buy, order, newFacts, workAll, knex } = shop;

/** Makes the database refuse all events about damaged rows. */
await knex.raw(`
  create table damaged (ref text primary key);
  create function refuse() returns trigger language plpgsql as $$ begin
    if exists (select from damaged where new.body like '%' || ref || '%') then raise sqlstate '22003'; end if;
    return new;
  end $$;
  create trigger refuse before insert on test_notices for each row execute function refuse()`);

/** The kinds of rows that come due: how to create one, and how to see that it was processed. */
const kinds = {
  async checkout() {
    const { sessionRef } = await processor.openCheckout(order(pro));
    await processor.page.pay(sessionRef, form(CARDS.delayed));
    const isDone = async () =>
      (await knex('test_checkouts').where({ session_ref: sessionRef }).first())!.state;
    return { ref: sessionRef, isDone, done: 'paid', dueAt: clock.now().getTime() + 31 * SECOND };
  },
  async subscription() {
    const { subscriptionRef: ref } = await buy(monthly);
    const { periodEnd } = last(await processor.lookUpSubscription(ref), 'subscription');
    const isDone = async () =>
      (await knex('test_subscriptions').where({ subscription_ref: ref }).first())!.periods;
    return { ref, isDone, done: 2, dueAt: periodEnd.getTime() };
  },
  async payment() {
    const { paymentRef: ref } = await buy(pro, CARDS.disputed);
    const isDone = async () => (await knex('test_payments').where({ payment_ref: ref }).first())!.dispute;
    return { ref, isDone, done: 'open', dueAt: clock.now().getTime() + 6 * SECOND };
  },
};

test.each(Object.entries(kinds))(
  'a damaged %s that is due is set aside, and others continue',
  async (_, make) => {
    const damaged = await make();
    clock.advance(SECOND);
    const healthy = await make();
    await newFacts();
    await knex('damaged').insert({ ref: damaged.ref });
    clock.advance(healthy.dueAt - clock.now().getTime());
    await workAll();
    expect(await healthy.isDone()).toBe(healthy.done);
    expect(await damaged.isDone()).not.toBe(damaged.done);
    expect(await processor.setAside()).toBe(1);

    // The repair in docs/operating.md.
    await knex('damaged').delete();
    for (const table of ['test_checkouts', 'test_subscriptions', 'test_payments'])
      await knex(table).whereNotNull('fault').update({ fault: null });
    await workAll();
    expect(await damaged.isDone()).toBe(damaged.done);
    expect(await processor.setAside()).toBe(0);
  },
);
