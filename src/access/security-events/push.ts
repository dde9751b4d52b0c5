import type { Knex } from 'knex';
import type { Addresses } from '../../foundation/addresses/addresses.ts';
import { isSlow, isSuccess } from '../../messaging/delivery/attempt-state.ts';
import {
  EndpointError,
  orEndpointError,
  startDeliveryQueue,
  type Attempted,
} from '../../messaging/delivery/delivery.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Jobs } from '../../platform/jobs/index.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Logger } from '../../platform/logger.ts';
import type { OutboundHttp } from '../../platform/outbound-http/index.ts';
import type { Random } from '../../platform/random.ts';
import type { SigningKeys } from '../../foundation/signing-keys/signing-keys.ts';
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

/** The type of the event that an agent was revoked: the URL of a page that describes it. */
export function agentRevoked({ web }: Pick<Addresses, 'web'>): string {
  return `${web()}/schemas/events/agent-revoked`;
}

/** The context under which the `Authorization` of a receiver is sealed. */
export function authorizationContext(receiverId: string): string {
  return `security-event-receiver:${receiverId}`;
}

/** Sends the security events that are due. @returns stops it: requests in progress have 3 s to end */
export async function startPush(deps: PushDependencies): Promise<{ stop(): Promise<void> }> {
  const { knex, keyring, signingKeys, addresses, clock, random, logger } = deps;

  function authorizationFor(receiver: store.ReceiverRow): string | undefined {
    const { receiver_id: id, authorization_sealed: sealed } = receiver;
    return sealed ? keyring.open(sealed, authorizationContext(id)).toString() : undefined;
  }

  /** The `Authorization` sent to a receiver; undefined if it cannot be decrypted, because then no request was sent. */
  function sentAuthorization(receiver: store.ReceiverRow): string | undefined {
    try {
      return orEndpointError(() => authorizationFor(receiver));
    } catch (error) {
      if (error instanceof EndpointError) return undefined;
      throw error;
    }
  }

  /** The token is signed for each attempt: the key of an earlier signature may have been removed. */
  async function toRequest(receiver: store.ReceiverRow, delivery: store.DeliveryRow, attemptedAt: Date) {
    const authorization = orEndpointError(() => authorizationFor(receiver));
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

  async function record(receiver: store.ReceiverRow, attempted: readonly Attempted<store.DeliveryRow>[]) {
    if (attempted.length === 0) return { slow: receiver.slow };
    const receiverId = receiver.receiver_id;
    const now = clock.now();
    const slow = attempted.some(({ result }) => isSlow(result));
    const failed = attempted.findLast(({ result }) => !isSuccess(result))?.result;
    const next = attempted.map(({ delivery: { delivery_id, attempts }, result }) => {
      const chance = random.bytes(4).readUInt32BE() / 2 ** 32;
      return { delivery_id, attempts, result, at: nextAttemptAt(attempts + 1, result, now, chance) };
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
          ...(attempted.some(({ result }) => isSuccess(result)) && { last_delivered_at: now }),
          ...(failed && { last_failed_at: now, last_fault: faultOf(failed, sentAuthorization(receiver)) }),
        },
      }),
    );
    for (const { delivery_id, result } of ended) {
      if (isSuccess(result)) continue;
      const { status } = result;
      logger.warn(
        { receiver_id: receiverId, delivery_id, status },
        'a security event could not be delivered and is given up',
      );
    }
    return { slow };
  }

  return startDeliveryQueue<store.ReceiverRow, store.DeliveryRow>(deps, {
    name: 'security-events',
    findEndpoint: (receiverId) => store.findReceiver(knex, receiverId),
    listDue: (receiverId, limit) => store.listDueDeliveries(knex, receiverId, clock.now(), limit),
    async listDueEndpoints(after, limit) {
      const due = await store.listDueReceivers(knex, clock.now(), after, limit);
      return due.map(({ receiver_id, slow }) => ({ key: receiver_id, slow }));
    },
    // Looked up for each delivery, because the receiver may have been deleted in between.
    prepare:
      ({ receiver_id }) =>
      async (delivery, attemptedAt) => {
        const receiver = await store.findReceiver(knex, receiver_id);
        return receiver && toRequest(receiver, delivery, attemptedAt);
      },
    record,
    giveUp: ({ delivery_id }, reason) => store.setAside(knex, delivery_id, reason),
  });
}
