import type { Knex } from 'knex';
import type { Actor, Audit } from '../audit/audit.ts';
import { fromMinor } from '../money/money.ts';
import { readPage, type Page, type PageRequest } from '../paging/page.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import * as store from './ledger-store.ts';
import type { EntryKind, EntryRow } from './ledger-store.ts';

/** One change of a balance. Amounts are in units of the reseller's currency. */
export interface LedgerEntry {
  readonly entryId: string;
  readonly kind: EntryKind;
  /** Negative for what was taken. */
  readonly amount: number;
  /** After it. */
  readonly balance: number;
  /** How many licences it paid for, or gave back. */
  readonly licenses: number;
  /** What the licences are, where it is about licences. */
  readonly appId: string | null;
  readonly tier: string | null;
  readonly durationDays: number | null;
  /** The licence that was given back, or the first one that was generated. */
  readonly reference: string | null;
  readonly note: string | null;
  readonly createdAt: Date;
}

/** A change of a balance before it is written: what it is not about is left out. */
export interface Movement {
  readonly kind: EntryKind;
  /** In minor units; negative for what is taken. */
  readonly amountMinor: number;
  readonly licenses?: number;
  readonly appId?: string;
  readonly tier?: string;
  readonly durationDays?: number | null;
  readonly reference?: string;
  readonly note?: string | null;
}

/** Whose balance it is. */
export interface Account {
  readonly reseller_id: string;
  readonly currency: string;
}

/** The ledgers of resellers: entries are only ever added, and a balance is the sum of its entries. */
export interface Ledger {
  /**
   * Changes a balance inside the caller's transaction, which holds the reseller and knows that the balance suffices.
   * It is in the audit log too.
   */
  post(trx: Knex.Transaction, actor: Actor, account: Account, movement: Movement): Promise<LedgerEntry>;
  /** Newest first. */
  list(account: Account, page: PageRequest): Promise<Page<LedgerEntry>>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
}

const ACTIONS = {
  credit: 'reseller.credited',
  debit: 'reseller.debited',
  generation: 'reseller.charged',
  refund: 'reseller.refunded',
} as const satisfies Record<EntryKind, string>;

export function createLedger({ knex, audit, clock, newId }: Dependencies): Ledger {
  return {
    async post(trx, actor, { reseller_id, currency }, movement) {
      const entry = {
        entry_id: newId('led'),
        reseller_id,
        kind: movement.kind,
        amount_minor: movement.amountMinor,
        licenses: movement.licenses ?? 0,
        app_id: movement.appId ?? null,
        tier: movement.tier ?? null,
        duration_days: movement.durationDays ?? null,
        reference: movement.reference ?? null,
        note: movement.note ?? null,
        created_at: clock.now(),
      };
      const balance_minor = await store.insertEntry(trx, entry);
      const posted = toEntry({ ...entry, balance_minor }, currency);
      const { entryId, amount, balance, licenses, appId } = posted;
      await audit.record(trx, actor, {
        action: ACTIONS[movement.kind],
        target: reseller_id,
        appId: movement.appId,
        data: { entry_id: entryId, amount, balance, currency, ...(appId !== null && { licenses }) },
      });
      return posted;
    },

    async list({ reseller_id, currency }, request) {
      const page = await readPage(
        request,
        'led',
        (row: EntryRow) => row.entry_id,
        (range) => store.listEntries(knex, reseller_id, range),
      );
      return { data: page.data.map((row) => toEntry(row, currency)), nextCursor: page.nextCursor };
    },
  };
}

function toEntry(row: EntryRow, currency: string): LedgerEntry {
  return {
    entryId: row.entry_id,
    kind: row.kind,
    amount: fromMinor(row.amount_minor, currency),
    balance: fromMinor(row.balance_minor, currency),
    licenses: row.licenses,
    appId: row.app_id,
    tier: row.tier,
    durationDays: row.duration_days,
    reference: row.reference,
    note: row.note,
    createdAt: row.created_at,
  };
}
