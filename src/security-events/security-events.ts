import type { Knex } from 'knex';
import type { Actor } from '../audit/audit.ts';
import type { Page, PageRequest } from '../paging/page.ts';

export interface Receiver {
  readonly receiverId: string;
  readonly url: string;
  readonly audience: string;
  readonly createdAt: Date;
  readonly lastDeliveredAt: Date | null;
  readonly lastFailedAt: Date | null;
  readonly lastFault: string | null;
}

/** An agent that was revoked. */
export interface Revocation {
  readonly agentId: string;
  readonly developerId: string;
  /** Of the issuer that had asserted its identity. */
  readonly issuer: string | null;
  readonly subject: string | null;
  /** By whom. */
  readonly initiatingEntity: 'admin' | 'user' | 'policy' | 'system';
  readonly revokedAt: Date;
}

/** Security Event Tokens (RFC 8417) to those who want to know when agents are revoked, by HTTP push (RFC 8935). */
export interface SecurityEvents {
  /** The event `agent-revoked`: an address of a page that says what it is. */
  agentRevoked(): string;
  /** Tells the receivers of the agent's developer, if and only if the caller's transaction commits. */
  tell(trx: Knex.Transaction, revocation: Revocation): Promise<void>;
  /** @throws ApiError VALIDATION_FAILED, TOO_MANY_RECEIVERS */
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
  /** Seals what receivers want to be sent anew under the current master key. @returns how many it found */
  reseal(): Promise<number>;
  /** Delivers until it is stopped. */
  start(): Promise<{ stop(): Promise<void> }>;
}

export function createSecurityEvents({ webUrl }: { readonly webUrl: () => string }): SecurityEvents {
  const pending = (): never => {
    throw new Error('not built');
  };
  return {
    agentRevoked: () => `${webUrl()}/schemas/events/agent-revoked`,
    tell: async () => {},
    createReceiver: pending,
    listReceivers: async () => ({ data: [], nextCursor: null }),
    deleteReceiver: pending,
    reseal: async () => 0,
    start: async () => ({ stop: async () => {} }),
  };
}
