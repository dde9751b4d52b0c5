import type { Knex } from 'knex';
import { readPage, type Page, type PageRequest } from '../paging/page.ts';
import { canonicalAddress } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import * as store from './audit-store.ts';

/** Who makes a change on the developer's side, and from which address. */
export interface Actor {
  /** `service` is Latchkey itself. */
  readonly kind:
    'developer' | 'api_token' | 'oauth_client' | 'agent' | 'reseller' | 'service' | 'administrator';
  /** The id of the developer, of the API token, of the client, of the agent, or of the reseller. */
  readonly id: string;
  /** The owner of the resources. */
  readonly developerId: string;
  readonly address: string;
  /** Digest of the session token, when developers act directly. */
  readonly sessionDigest?: Buffer;
}

/** What an actor did. */
export interface NewAuditEntry {
  /** A noun and a past participle, such as `user.banned`. */
  readonly action: string;
  readonly appId?: string | undefined;
  /** The id of what was changed. */
  readonly target?: string | undefined;
  /** Details of the action; never a secret. */
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface AuditEntry {
  readonly auditId: string;
  readonly appId: string | null;
  readonly actorKind: Actor['kind'];
  readonly actorId: string;
  readonly address: string;
  readonly action: string;
  readonly target: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

export type AuditFilter = store.AuditFilter;

/** The audit log: entries are written in the transaction that they describe, and never changed. */
export interface Audit {
  record(trx: Knex.Transaction, actor: Actor, entry: NewAuditEntry): Promise<void>;
  /** The developer's matching entries, newest first. */
  list(developerId: string, filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createAudit({ knex, clock, newId }: Dependencies): Audit {
  return {
    async record(trx, actor, { action, appId, target, data = {} }) {
      // Read before the id is created: searches by time rely on ids that are not older than their entries.
      const createdAt = clock.now();
      await store.insertEntry(trx, {
        audit_id: newId('aud'),
        developer_id: actor.developerId,
        app_id: appId ?? null,
        actor_kind: actor.kind,
        actor_id: actor.id,
        address: actor.address,
        action,
        target: target ?? null,
        data,
        created_at: createdAt,
      });
    },

    async list(developerId, { address, ...wanted }, request) {
      // Text that is not an address matches nothing.
      const filter = { ...wanted, address: address && (canonicalAddress(address) ?? address) };
      const page = await readPage(
        request,
        'aud',
        (row: store.AuditRow) => row.audit_id,
        (range) => store.listEntries(knex, developerId, filter, range),
      );
      return { data: page.data.map(toEntry), nextCursor: page.nextCursor };
    },
  };
}

function toEntry(row: store.AuditRow): AuditEntry {
  return {
    auditId: row.audit_id,
    appId: row.app_id,
    actorKind: row.actor_kind,
    actorId: row.actor_id,
    address: row.address,
    action: row.action,
    target: row.target,
    data: row.data,
    createdAt: row.created_at,
  };
}
