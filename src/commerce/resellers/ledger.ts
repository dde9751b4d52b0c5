import type { Knex } from 'knex';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { fromMinor } from '../../foundation/money/money.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import * as store from './ledger-store.ts';
import type { EntryKind, EntryRow } from './ledger-store.ts';
import { rebalance, type Balances } from './booking.ts';

/** One change of a balance. Amounts are in units of the reseller's currency. */
export interface LedgerEntry {
  readonly entryId: string;
  readonly kind: EntryKind;
  /** Negative for a debit. */
  readonly amount: number;
  /** The balance after the entry. */
  readonly balance: number;
  /** How many licenses were bought or returned. */
  readonly licenses: number;
  /** The kind of the licenses, if the entry is about licenses. */
  readonly appId: string | null;
  readonly tier: string | null;
  readonly durationDays: number | null;
  /** The license that was returned, the first one that was generated, or the payment. */
  readonly reference: string | null;
  readonly note: string | null;
  readonly createdAt: Date;
}

/** A ledger entry to be written. */
export interface Movement {
  readonly kind: EntryKind;
  /** In minor units; negative for a debit. */
  readonly amountMinor: number;
  readonly licenses?: number;
  readonly appId?: string;
  readonly tier?: string;
  readonly durationDays?: number | null;
  readonly reference?: string;
  readonly note?: string | null;
}

/** The owner of a balance. */
export interface Account {
  readonly reseller_id: string;
  readonly currency: string;
}

/** A reseller that the caller has locked. */
export interface LockedAccount extends Account, Balances {
  readonly deleted_at: Date | null;
}

/** A balance after entries were written. */
export interface Posted extends Balances {
  /** The requested entries in their order, then the ones that followed from them. */
  readonly entries: readonly LedgerEntry[];
}

/** The ledgers of resellers: entries are only ever added, and a balance is the sum of its entries. */
export interface Ledger {
  /**
   * Writes entries, inside the caller's transaction, which has locked the reseller and has checked that the
   * balance stays within its limits. A debt is then paid from the balance, as a `reversal`, and a waiting
   * amount is credited, as a `top_up`. Every entry is recorded in the audit log.
   * @param movements the entries in their order
   * @param aside the new debt and waiting amount, if they change
   */
  post(
    trx: Knex.Transaction,
    actor: Actor,
    account: LockedAccount,
    movements: readonly Movement[],
    aside?: Partial<Pick<Balances, 'owed_minor' | 'waiting_minor'>>,
  ): Promise<Posted>;
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
  commission: 'reseller.commissioned',
  top_up: 'reseller.topped_up',
  reversal: 'reseller.reversed',
} as const satisfies Record<EntryKind, string>;

export function createLedger({ knex, audit, clock, newId }: Dependencies): Ledger {
  async function write(
    trx: Knex.Transaction,
    actor: Actor,
    { reseller_id, currency, deleted_at }: LockedAccount,
    created_at: Date,
    movement: Movement,
  ): Promise<EntryRow> {
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
      created_at,
    };
    const balance_minor = await store.insertEntry(trx, entry);
    const written = { ...entry, balance_minor };
    const { entryId, amount, balance, licenses, appId } = toEntry(written, currency);
    await audit.record(trx, actor, {
      action: ACTIONS[movement.kind],
      target: reseller_id,
      appId: movement.appId,
      data: {
        entry_id: entryId,
        amount,
        balance,
        currency,
        ...(appId !== null && { licenses }),
        // No list shows this reseller to the developer anymore.
        ...(deleted_at !== null && { deleted: true }),
      },
    });
    return written;
  }

  async function setAside(
    trx: Knex.Transaction,
    actor: Actor,
    { reseller_id, currency, ...before }: LockedAccount,
    after: Balances,
  ): Promise<void> {
    if (after.owed_minor === before.owed_minor && after.waiting_minor === before.waiting_minor) return;
    await store.updateAside(trx, reseller_id, after);
    const data = {
      owed: fromMinor(after.owed_minor, currency),
      waiting: fromMinor(after.waiting_minor, currency),
      currency,
    };
    const action =
      after.owed_minor === before.owed_minor ? 'reseller.surplus_changed' : 'reseller.debt_changed';
    await audit.record(trx, actor, { action, target: reseller_id, data });
  }

  return {
    async post(trx, actor, account, movements, aside = {}) {
      const rows: EntryRow[] = [];
      // One time for all, so that the price and the commission of a sale are on the same day.
      const now = clock.now();
      for (const movement of movements) rows.push(await write(trx, actor, account, now, movement));
      const { owed_minor, waiting_minor } = { ...account, ...aside };
      const { balance_minor } = rows.at(-1) ?? account;
      const { topUp, reversal } = rebalance({ balance_minor, owed_minor, waiting_minor });
      const reference = movements.find((movement) => movement.reference !== undefined)?.reference;
      const about = reference === undefined ? {} : { reference };
      if (topUp > 0) {
        rows.push(await write(trx, actor, account, now, { kind: 'top_up', amountMinor: topUp, ...about }));
      }
      if (reversal > 0) {
        rows.push(
          await write(trx, actor, account, now, { kind: 'reversal', amountMinor: -reversal, ...about }),
        );
      }
      const after = {
        balance_minor: balance_minor + topUp - reversal,
        owed_minor: owed_minor - reversal,
        waiting_minor: waiting_minor - topUp,
      };
      await setAside(trx, actor, account, after);
      return { ...after, entries: rows.map((row) => toEntry(row, account.currency)) };
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
