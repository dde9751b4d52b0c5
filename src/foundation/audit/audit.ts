import type { Knex } from 'knex';
import { readPage, type Page, type PageRequest } from '../paging/page.ts';
import { canonicalAddress } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import { exportedText, type ExportFormat } from './audit-export.ts';
import { toEntry, type AuditEntry } from './audit-entry.ts';
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

export type { AuditEntry } from './audit-entry.ts';
export type AuditFilter = store.AuditFilter;

/** Entries per page of an export. */
const EXPORTED_AT_ONCE = 500;

/** The audit log: entries are written in the transaction that they describe, and never changed. */
export interface Audit {
  /** Records what an actor did, inside the transaction that does it. */
  record(trx: Knex.Transaction, actor: Actor, ...entries: readonly NewAuditEntry[]): Promise<void>;
  /** The developer's matching entries, newest first. */
  list(developerId: string, filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>>;
  /**
   * All matching entries that exist now, newest first, as chunks of text: each page is read when the previous one is
   * consumed.
   */
  export(developerId: string, filter: AuditFilter, format: ExportFormat): AsyncIterable<string>;
  /** When the newest of a developer's entries of some actions was written; null without one. */
  newestOf(developerId: string, actions: readonly string[]): Promise<Date | null>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createAudit({ knex, clock, newId }: Dependencies): Audit {
  return {
    async record(trx, actor, ...entries) {
      // Read before the ids are created: searches by time rely on ids that are not older than their entries.
      const createdAt = clock.now();
      await store.insertEntries(
        trx,
        entries.map(({ action, appId, target, data = {} }) => ({
          audit_id: newId('aud'),
          developer_id: actor.developerId,
          app_id: appId ?? null,
          actor_kind: actor.kind,
          actor_id: actor.id,
          address: addressFor(actor),
          action,
          target: target ?? null,
          data,
          created_at: createdAt,
        })),
      );
    },

    async list(developerId, wanted, request) {
      const filter = canonical(wanted);
      const page = await readPage(
        request,
        'aud',
        (row: store.AuditRow) => row.audit_id,
        (range) => store.listEntries(knex, developerId, filter, range),
      );
      return { data: page.data.map(toEntry), nextCursor: page.nextCursor };
    },

    export(developerId, wanted, format) {
      const filter = canonical(wanted);
      async function* pages(): AsyncGenerator<AuditEntry[]> {
        for (let before: string | undefined; ;) {
          const rows = await store.listEntries(knex, developerId, filter, {
            before,
            limit: EXPORTED_AT_ONCE,
          });
          if (rows.length > 0) yield rows.map(toEntry);
          if (rows.length < EXPORTED_AT_ONCE) return;
          before = rows.at(-1)!.audit_id;
        }
      }
      return exportedText(pages(), format);
    },

    async newestOf(developerId, actions) {
      const found = await Promise.all(actions.map((action) => store.findNewestOf(knex, developerId, action)));
      const newest = Math.max(...found.map((at) => at?.getTime() ?? -Infinity));
      return newest === -Infinity ? null : new Date(newest);
    },
  };
}

/** The operator's address is not for the developer whose log says what the operator did. */
function addressFor({ kind, id, developerId, address }: Actor): string {
  return kind === 'administrator' && developerId !== id ? '' : address;
}

/** Text that is not an address matches nothing. */
function canonical({ address, ...wanted }: AuditFilter): AuditFilter {
  return { ...wanted, address: address && (canonicalAddress(address) ?? address) };
}
