import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { openDatabase } from '../../../../src/platform/database/index.ts';
import { createLogger } from '../../../../src/platform/logger.ts';
import type { PaymentFact } from '../../../../src/platform/payments/payment-fact.ts';
import type { Order, Product } from '../../../../src/platform/payments/index.ts';
import {
  openTestProcessor,
  type TestProcessor,
  type TestProcessorOptions,
} from '../../../../src/platform/payments/test-processor/index.ts';
import { signedHeaders } from '../../../../src/platform/payments/test-processor/signature.ts';
import { systemRandom } from '../../../../src/platform/random.ts';
import { atFileEnd } from '../../../support/at-file-end.ts';
import { TestClock } from '../../../support/clock.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { startReceiver } from './receiver.ts';

export const CARDS = {
  pays: '4242 4242 4242 4242',
  declined: '4000 0000 0000 0002',
  authenticates: '4000 0025 0000 3155',
  delayed: '4000 0000 0000 0077',
  delayedFailure: '4000-0000-0000-0085',
  disputed: '4000 0000 0000 0259',
  paysOnce: '4000 0000 0000 0341',
} as const;

export const pro: Product = {
  productId: 'plan_pro',
  name: 'Pro',
  amountMinor: 4_990,
  currency: 'EUR',
  recurring: null,
};
export const monthly: Product = { ...pro, productId: 'plan_monthly', recurring: 'monthly' };

export const form = (number: string) => ({ name: 'Ada Lovelace', number, expiry: '12 / 30', cvc: '123' });

const SHOP_SECRET = Buffer.alloc(32, 7);

type FactOf<Kind extends PaymentFact['kind']> = Extract<PaymentFact, { kind: Kind }>;

/** Test processors on a database of the calling file, and a webhook that receives their events. */
export async function openTestShop(start?: string) {
  const databaseUrl = await createTestDatabase();
  const logger = createLogger('silent');
  const database = await openDatabase({ databaseUrl, dataDir: 'unused', logger });
  atFileEnd(() => database.close());
  const clock = new TestClock(start);
  const receiver = await startReceiver();
  const open = (changes: Partial<TestProcessorOptions> = {}): TestProcessor =>
    openTestProcessor({
      knex: database.knex,
      clock,
      random: systemRandom,
      logger,
      signingSecret: SHOP_SECRET,
      account: 'acct_test',
      webUrl: () => 'https://latchkey.example.com',
      notifyUrl: () => receiver.url,
      ...changes,
    });
  const processor = open();
  let orders = 0;

  function order(product: Product = pro, changes: Partial<Order> = {}): Order {
    return {
      reference: `chk_${(orders += 1)}`,
      product,
      customer: { reference: `dev_${orders}`, email: 'ada@example.com', customerRef: null },
      successUrl: 'https://shop.example.com/thanks',
      cancelUrl: 'https://shop.example.com/cart',
      expiresAt: new Date(clock.now().getTime() + 3_600_000),
      ...changes,
    };
  }

  /** Processes all that is due. */
  async function workAll(by = processor): Promise<void> {
    while (await by.work());
  }

  /** The facts that the webhook received since the last call. */
  async function newFacts(): Promise<PaymentFact[]> {
    await workAll();
    const facts: PaymentFact[] = [];
    for (const { body, headers } of receiver.received.splice(0)) {
      facts.push(...((await processor.readEvent(body, headers))?.facts ?? []));
    }
    return facts;
  }

  async function buy(product: Product = pro, number: string = CARDS.pays, changes: Partial<Order> = {}) {
    const { sessionRef } = await processor.openCheckout(order(product, changes));
    const result = await processor.page.pay(sessionRef, form(number));
    const [checkout] = (await processor.lookUpCheckout(sessionRef)) as [FactOf<'checkout'>];
    return {
      sessionRef,
      result: result!,
      checkout,
      paymentRef: checkout.paymentRef!,
      subscriptionRef: checkout.subscriptionRef!,
    };
  }

  /** An event as the processor signs it. */
  const signed = (body: Buffer): [Buffer, Record<string, string>] => [
    body,
    signedHeaders(SHOP_SECRET, `nt_${randomUUID()}`, body, clock.now()),
  ];

  return {
    ...database,
    databaseUrl,
    signed,
    clock,
    receiver,
    processor,
    open,
    order,
    workAll,
    newFacts,
    buy,
  };
}

/** The facts of one kind. */
export function only<Kind extends PaymentFact['kind']>(
  facts: readonly PaymentFact[],
  kind: Kind,
): FactOf<Kind>[] {
  return facts.filter((fact): fact is FactOf<Kind> => fact.kind === kind);
}

/** The last fact of a kind. */
export function last<Kind extends PaymentFact['kind']>(
  facts: readonly PaymentFact[],
  kind: Kind,
): FactOf<Kind> {
  const found = only(facts, kind).at(-1);
  expect(found, `a fact of a ${kind}`).toBeDefined();
  return found!;
}

export const refused = (work: Promise<unknown>, fault: string): Promise<void> =>
  expect(work).rejects.toMatchObject({ name: 'PaymentsError', fault });
