import { createHmac, randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Keys } from '../../src/foundation/installation-keys/installation-keys.ts';
import { createChallenge, type Challenge } from '../../src/commerce/machine-payments/challenge.ts';
import { createMachinePayments } from '../../src/commerce/machine-payments/machine-payments.ts';
import { createNewId } from '../../src/platform/ids.ts';
import {
  PaymentsError,
  PaymentsUnavailableError,
  type ChargeRequest,
} from '../../src/platform/payments/index.ts';
import { systemRandom } from '../../src/platform/random.ts';
import type { Tokens } from '../../src/foundation/tokens/tokens.ts';
import { SECOND } from '../support/clock.ts';
import { startTestService } from '../support/service.ts';

const { clock, database, services } = await startTestService();
const { knex } = database;
const digest = (text: string) => createHmac('sha256', 'key').update(text).digest();
const client = { address: '127.0.0.1' };

/** The calls of the processor, and the charges that it accepted, one per key. */
const charges: ChargeRequest[] = [];
const accepted = new Set<string>();
/** The outcomes of the next charges. Others succeed. */
const outcomes: (() => void | Promise<void>)[] = [];

beforeEach(() => {
  charges.length = 0;
  accepted.clear();
  outcomes.length = 0;
});

const create = (networkId: string | undefined) =>
  createMachinePayments({
    knex,
    networkId,
    payments: {
      async charge(request) {
        charges.push(request);
        const outcome = outcomes.shift();
        if (outcome) await outcome();
        accepted.add(request.key);
        return { paymentRef: `ch_${request.key}`, paidAt: clock.now() };
      },
    },
    keys: { challengeDigest: digest } as Keys,
    tokens: { signAccessToken: async () => randomBytes(16).toString('hex') } as unknown as Tokens,
    limits: services.limits,
    clock,
    random: systemRandom,
    newId: createNewId(clock, systemRandom),
    baseUrl: () => 'https://api.example.com',
  });
const machinePayments = create('profile_1');

const terms = { amount: '1000', currency: 'USDC', description: 'For agents.' };
const newChallenge = (some: Partial<typeof terms> = {}) =>
  createChallenge(
    { ...terms, ...some },
    { realm: 'api.example.com', networkId: 'profile_1', now: clock.now(), nonce: randomBytes(16) },
    digest,
  );
const pay = (challenge: Challenge, spt = 'spt_1', by = machinePayments) =>
  by.buyAccess({ credential: { challenge, payload: { spt } } }, client);
const rowOf = async ({ id }: Challenge) =>
  (await knex('machine_payments').where({ challenge_id: id }).first()) as Record<string, unknown> | undefined;

/** The processor accepts the charge, and then the node dies. */
const dieAfterwards = (key: string) => () => {
  accepted.add(key);
  throw new Error('killed');
};

test('the processor charges the amount in the challenge, with its id as the key', async () => {
  // Even if the price has changed since then.
  const challenge = newChallenge({ amount: '2000', description: 'As it was.' });
  const { payment } = await pay(challenge);
  expect(charges).toEqual([
    { key: challenge.id, token: 'spt_1', amount: '2000', currency: 'USDC', description: 'As it was.' },
  ]);
  expect(payment).toEqual({ amount: 0.002, currency: 'USDC', reference: expect.stringMatching(/^pay_/) });
  expect(await rowOf(challenge)).toMatchObject({
    state: 'settled',
    amount: 2000,
    reference: payment.reference,
    payment_ref: `ch_${challenge.id}`,
  });
});

test('a challenge is claimed before the processor is called', async () => {
  const challenge = newChallenge();
  outcomes.push(dieAfterwards(challenge.id));
  await expect(pay(challenge)).rejects.toThrow('killed');
  expect(await rowOf(challenge)).toMatchObject({ state: 'claimed', payment_ref: null, token_digest: null });
});

describe('a payment of a node that died between charge and settlement', () => {
  async function claimed(): Promise<Challenge> {
    const challenge = newChallenge();
    outcomes.push(dieAfterwards(challenge.id));
    await expect(pay(challenge)).rejects.toThrow('killed');
    return challenge;
  }

  test('is settled by the same credential, and not charged again', async () => {
    const challenge = await claimed();
    const { reference } = (await rowOf(challenge))!;
    const { token, payment } = await pay(challenge);
    expect(payment.reference).toBe(reference);
    expect(accepted.size).toBe(1);
    expect(await machinePayments.authenticate(token)).toMatchObject({ reference });
    await expect(pay(challenge)).rejects.toMatchObject({ code: 'INVALID_CHALLENGE' });
  });

  test('is settled even if the challenge has expired', async () => {
    const challenge = await claimed();
    clock.advance(3600 * SECOND);
    const { expiresAt } = await pay(challenge);
    expect(expiresAt.getTime()).toBe(clock.now().getTime() + 900 * SECOND);
  });

  test('is not settled by another payment token, which is not charged', async () => {
    const challenge = await claimed();
    await expect(pay(challenge, 'spt_2')).rejects.toMatchObject({
      code: 'INVALID_CHALLENGE',
      detail: 'The challenge is already used.',
    });
    expect(charges.map(({ token }) => token)).toEqual(['spt_1']);
    expect((await pay(challenge)).token).toBeTypeOf('string');
  });

  test('is declined if the processor then declines it', async () => {
    const challenge = await claimed();
    outcomes.push(() => {
      throw new PaymentsError('declined', 'no');
    });
    await expect(pay(challenge)).rejects.toMatchObject({ code: 'VERIFICATION_FAILED' });
    expect(await rowOf(challenge)).toMatchObject({ state: 'declined' });
    await expect(pay(challenge)).rejects.toMatchObject({ code: 'INVALID_CHALLENGE' });
  });
});

test('while the processor is unavailable, the response is a 503, and the challenge can still be paid', async () => {
  const challenge = newChallenge();
  for (let time = 0; time < 2; time += 1) {
    outcomes.push(() => {
      throw new PaymentsUnavailableError('down');
    });
    await expect(pay(challenge)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      status: 503,
      retryAfter: expect.any(Number),
    });
  }
  await pay(challenge);
  expect(accepted.size).toBe(1);
});

test('twenty concurrent payments: one token and one charge, and the others fail', async () => {
  const challenge = newChallenge();
  // All charges begin before the first one is settled.
  const { promise: allCharged, resolve } = Promise.withResolvers<void>();
  outcomes.push(...Array.from({ length: 19 }, () => () => allCharged));
  outcomes.push(resolve);
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => pay(challenge)));
  const refused = results.filter((result) => result.status === 'rejected');
  expect(refused).toHaveLength(19);
  for (const { reason } of refused) expect(reason).toMatchObject({ code: 'INVALID_CHALLENGE' });
  expect([...accepted]).toEqual([challenge.id]);
});

test('of two concurrent payment tokens for one challenge, one is charged', async () => {
  const challenge = newChallenge();
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => pay(challenge, `spt_${index % 2}`)),
  );
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(new Set(charges.map(({ token }) => token)).size).toBe(1);
});

test('without a network, nothing is charged, and the challenge says so', async () => {
  const none = create(undefined);
  const challenge = newChallenge();
  await expect(pay(challenge, 'spt_1', none)).rejects.toMatchObject({
    code: 'VERIFICATION_FAILED',
    detail: 'Machine payments are not set up here.',
  });
  expect(charges).toEqual([]);
  expect(await rowOf(challenge)).toBeUndefined();
  const error = await none.buyAccess(undefined, client).catch((thrown: { challenge: string }) => thrown);
  const request = /request="([^"]+)"/.exec((error as { challenge: string }).challenge)![1]!;
  expect(JSON.parse(Buffer.from(request, 'base64url').toString())).toMatchObject({
    methodDetails: { networkId: 'none' },
  });
});
