import type { Knex } from 'knex';
import type { Addresses } from '../addresses/addresses.ts';
import { isSlow, isSuccess } from '../dispatch/attempt-state.ts';
import { EndpointFault, opened, startDispatch, type Made } from '../dispatch/dispatch.ts';
import type { Clock } from '../platform/clock.ts';
import type { Jobs } from '../platform/jobs/index.ts';
import type { Keyring } from '../platform/keyring.ts';
import type { Logger } from '../platform/logger.ts';
import type { OutboundHttp } from '../platform/outbound-http/index.ts';
import type { Random } from '../platform/random.ts';
import type { SigningKeys } from '../signing-keys/signing-keys.ts';
import { faultOf, nextAttemptAt } from './security-event-state.ts';
import * as store from './security-event-store.ts';

export interface PushDependencies {
  readonly knex: Knex;
  readonly jobs: Jobs;
  readonly outbound: OutboundHttp;
  readonly keyring: Keyring;
  readonly signingKeys: Pick<SigningKeys, 'sign'>;
  readonly addresses: Pick<Addresses, 'issuer' | 'web'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The event that an agent was revoked. */
export function agentRevoked({ web }: Pick<Addresses, 'web'>): string {
  return `${web()}/schemas/events/agent-revoked`;
}

/** Under what the `Authorization` for a receiver is sealed. */
export function authorizationContext(receiverId: string): string {
  return `security-event-receiver:${receiverId}`;
}

/** Sends the security events that are due. @returns stops: requests under way get 3 s to end */
export async function startPush(deps: PushDependencies): Promise<{ stop(): Promise<void> }> {
  const { knex, keyring, signingKeys, addresses, clock, random, logger } = deps;

  function authorizationFor(receiver: store.ReceiverRow): string | undefined {
    const { receiver_id: id, authorization_sealed: sealed } = receiver;
    return sealed ? keyring.open(sealed, authorizationContext(id)).toString() : undefined;
  }

  /** The `Authorization` that a receiver was sent; none when it cannot be opened, because then nothing was sent. */
  function sentTo(receiver: store.ReceiverRow): string | undefined {
    try {
      return opened(() => authorizationFor(receiver));
    } catch (error) {
      if (error instanceof EndpointFault) return undefined;
      throw error;
    }
  }

  /** Signed when it is sent: a key may have been removed since it was told. */
  async function toSent(receiver: store.ReceiverRow, delivery: store.DeliveryRow, attemptedAt: Date) {
    const authorization = opened(() => authorizationFor(receiver));
    return {
      url: receiver.url,
      headers: {
        'content-type': 'application/secevent+jwt',
        accept: 'application/json',
        'user-agent': 'Latchkey-Security-Events/2',
        ...(authorization !== undefined && { authorization }),
      },
      body: await signingKeys.sign('secevent+jwt', {
        iss: addresses.issuer(),
        aud: receiver.audience,
        iat: Math.floor(attemptedAt.getTime() / 1000),
        jti: delivery.delivery_id,
        sub_id: delivery.sub_id,
        events: { [agentRevoked(addresses)]: delivery.event },
      }),
    };
  }

  async function record(receiver: store.ReceiverRow, made: readonly Made<store.DeliveryRow>[]) {
    if (made.length === 0) return { slow: receiver.slow };
    const receiverId = receiver.receiver_id;
    const now = clock.now();
    const slow = made.some(({ attempt }) => isSlow(attempt));
    const failed = made.findLast(({ attempt }) => !isSuccess(attempt))?.attempt;
    const next = made.map(({ delivery: { delivery_id, attempts }, attempt }) => {
      const chance = random.bytes(4).readUInt32BE() / 2 ** 32;
      return { delivery_id, attempts, attempt, at: nextAttemptAt(attempts + 1, attempt, now, chance) };
    });
    const ended = next.filter(({ at }) => at === null);
    await knex.transaction((trx) =>
      store.recordAttempts(trx, receiverId, {
        ended: ended.map(({ delivery_id }) => delivery_id),
        again: next.flatMap(({ delivery_id, attempts, at }) =>
          at ? [{ delivery_id, attempts, next_attempt_at: at }] : [],
        ),
        receiver: {
          slow,
          ...(made.some(({ attempt }) => isSuccess(attempt)) && { last_delivered_at: now }),
          ...(failed && { last_failed_at: now, last_fault: faultOf(failed, sentTo(receiver)) }),
        },
      }),
    );
    for (const { delivery_id, attempt } of ended) {
      if (isSuccess(attempt)) continue;
      const { status } = attempt;
      logger.warn({ receiver_id: receiverId, delivery_id, status }, 'a security event was given up');
    }
    return { slow };
  }

  return startDispatch<store.ReceiverRow, store.DeliveryRow>(deps, {
    queue: 'security-events',
    find: (receiverId) => store.findReceiver(knex, receiverId),
    listDue: (receiverId, limit) => store.listDueDeliveries(knex, receiverId, clock.now(), limit),
    async listDueEndpoints(after, limit) {
      const due = await store.listDueReceivers(knex, clock.now(), after, limit);
      return due.map(({ receiver_id, slow }) => ({ key: receiver_id, slow }));
    },
    // Looked up for each: one that is deleted meanwhile gets nothing more.
    prepare:
      ({ receiver_id }) =>
      async (delivery, attemptedAt) => {
        const receiver = await store.findReceiver(knex, receiver_id);
        return receiver && toSent(receiver, delivery, attemptedAt);
      },
    record,
    giveUp: ({ delivery_id }, reason) => store.setAside(knex, delivery_id, reason),
  });
}
