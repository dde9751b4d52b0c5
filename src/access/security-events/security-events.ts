import { isIP } from 'node:net';
import type { Knex } from 'knex';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import { isPublicAddress } from '../../platform/address.ts';
import { takeAdvisoryLock } from '../../platform/database/advisory-lock.ts';
import { createResealer } from '../../platform/database/reseal.ts';
import type { NewId } from '../../platform/ids.ts';
import { hostOf } from '../../platform/outbound-http/reachable.ts';
import { agentRevoked, authorizationContext, startPush, type PushDependencies } from './push.ts';
import { eventOf, subjectOf, type Revocation } from './security-event-state.ts';
import * as store from './security-event-store.ts';

export type { Revocation } from './security-event-state.ts';

const RECEIVERS_PER_DEVELOPER = 20;

export interface Receiver {
  readonly receiverId: string;
  readonly url: string;
  readonly audience: string;
  readonly createdAt: Date;
  readonly lastDeliveredAt: Date | null;
  readonly lastFailedAt: Date | null;
  readonly lastFault: string | null;
}

/** Sends Security Event Tokens (RFC 8417) about revoked agents to receivers, by HTTP push (RFC 8935). */
export interface SecurityEvents {
  /** The URI of the event `agent-revoked`, whose page describes it. */
  agentRevoked(): string;
  /** Notifies the receivers of the agents' developers, if and only if the caller's transaction commits. */
  publish(trx: Knex.Transaction, revocations: Revocation | readonly Revocation[]): Promise<void>;
  /** @throws ApiError VALIDATION_FAILED for a URL that is never allowed, TOO_MANY_RECEIVERS */
  createReceiver(
    actor: Actor,
    receiver: {
      readonly url: string;
      readonly audience: string;
      readonly authorization?: string | undefined;
    },
  ): Promise<Receiver>;
  listReceivers(developerId: string, page: PageRequest): Promise<Page<Receiver>>;
  /** @throws ApiError RECEIVER_NOT_FOUND */
  deleteReceiver(actor: Actor, receiverId: string): Promise<void>;
  /** Reseals the `Authorization` of receivers under the current master key. @returns how many it found */
  reseal(): Promise<number>;
  /** How many deliveries are set aside because they cannot be sent. */
  setAside(): Promise<number>;
  /** Delivers until it is stopped. */
  start(): Promise<{ stop(): Promise<void> }>;
}

interface Dependencies extends PushDependencies {
  readonly audit: Audit;
  readonly newId: NewId;
}

export function createSecurityEvents(deps: Dependencies): SecurityEvents {
  const { knex, audit, jobs, outbound, keyring, addresses, clock, newId } = deps;

  /** A token names the revoked agent, so only a private network may carry it unencrypted. */
  function assertUsable(text: string): void {
    const fault = outbound.fault(text);
    if (fault !== undefined) throw invalidMember('/url', fault);
    const url = new URL(text);
    const host = hostOf(url);
    // Of the non-public addresses, only those in networks that the configuration names reach this point.
    const isOwn = isIP(host) !== 0 && !isPublicAddress(host);
    if (url.protocol !== 'https:' && !isOwn) throw invalidMember('/url', 'must be an https URL');
  }

  return {
    agentRevoked: () => agentRevoked(addresses),

    async publish(trx, revocations) {
      const all = [revocations].flat();
      if (all.length === 0) return;
      const developerIds = [...new Set(all.map(({ developerId }) => developerId))];
      const receivers = await store.lockReceiversForShare(trx, developerIds);
      if (receivers.length === 0) return;
      const now = clock.now();
      const rows = all.flatMap((revocation) => {
        const [sub_id, event] = [subjectOf(revocation), eventOf(revocation)];
        return receivers
          .filter(({ developer_id }) => developer_id === revocation.developerId)
          .map(({ receiver_id }) => ({
            delivery_id: newId('set'),
            receiver_id,
            sub_id,
            event,
            next_attempt_at: now,
          }));
      });
      await store.insertDeliveries(trx, rows);
      const requests = receivers.map(({ receiver_id, slow }) => ({ key: receiver_id, slow }));
      await jobs.send(trx, 'security-events', requests);
    },

    async createReceiver(actor, { url, audience, authorization }) {
      assertUsable(url);
      const receiverId = newId('rcv');
      const row: store.ReceiverRow = {
        receiver_id: receiverId,
        developer_id: actor.developerId,
        url,
        audience,
        authorization_sealed:
          authorization === undefined
            ? null
            : keyring.seal(Buffer.from(authorization), authorizationContext(receiverId)),
        // Until a request was fast.
        slow: true,
        created_at: clock.now(),
        last_delivered_at: null,
        last_failed_at: null,
        last_fault: null,
      };
      await knex.transaction(async (trx) => {
        await takeAdvisoryLock(trx, `security-event-receivers:${actor.developerId}`);
        if ((await store.countReceivers(trx, actor.developerId)) >= RECEIVERS_PER_DEVELOPER) {
          throw new ApiError('TOO_MANY_RECEIVERS');
        }
        await store.insertReceiver(trx, row);
        // Without the URL, which may contain a secret.
        const entry = { action: 'security_event_receiver.created', target: receiverId, data: { audience } };
        await audit.record(trx, actor, entry);
      });
      return toReceiver(row);
    },

    async listReceivers(developerId, request) {
      const page = await readPage(
        request,
        'rcv',
        (row: store.ReceiverRow) => row.receiver_id,
        (range) => store.listReceivers(knex, developerId, range),
      );
      return { data: page.data.map(toReceiver), nextCursor: page.nextCursor };
    },

    deleteReceiver: (actor, receiverId) =>
      knex.transaction(async (trx) => {
        if (!(await store.deleteReceiver(trx, actor.developerId, receiverId))) {
          throw new ApiError('RECEIVER_NOT_FOUND');
        }
        await audit.record(trx, actor, { action: 'security_event_receiver.deleted', target: receiverId });
      }),

    reseal: createResealer(knex, keyring, {
      table: 'security_event_receivers',
      id: 'receiver_id',
      column: 'authorization_sealed',
      context: authorizationContext,
    }),

    setAside: () => store.countSetAside(knex),

    start: () => startPush(deps),
  };
}

function toReceiver(row: store.ReceiverRow): Receiver {
  return {
    receiverId: row.receiver_id,
    url: row.url,
    audience: row.audience,
    createdAt: row.created_at,
    lastDeliveredAt: row.last_delivered_at,
    lastFailedAt: row.last_failed_at,
    lastFault: row.last_fault,
  };
}
