import type { Knex } from 'knex';

export type EntryKind = 'credit' | 'debit' | 'generation' | 'refund' | 'commission' | 'top_up' | 'reversal';

export interface EntryRow {
  readonly entry_id: string;
  readonly reseller_id: string;
  readonly kind: EntryKind;
  readonly amount_minor: number;
  readonly balance_minor: number;
  readonly licenses: number;
  readonly app_id: string | null;
  readonly tier: string | null;
  readonly duration_days: number | null;
  readonly reference: string | null;
  readonly note: string | null;
  readonly created_at: Date;
}

/**
 * Changes a balance and writes the entry, in one statement. Nothing else changes a balance, so it is always
 * the sum of the ledger. The caller has locked the reseller.
 * @returns the balance after the entry
 */
export async function insertEntry(
  trx: Knex.Transaction,
  row: Omit<EntryRow, 'balance_minor'>,
): Promise<number> {
  const { rows } = await trx.raw<{ rows: Pick<EntryRow, 'balance_minor'>[] }>(
    `with moved as (
       update resellers set balance_minor = balance_minor + ?::bigint where reseller_id = ? returning balance_minor
     )
     insert into reseller_ledger (entry_id, reseller_id, kind, amount_minor, balance_minor, licenses, app_id, tier,
       duration_days, reference, note, created_at)
     select ?, ?, ?, ?::bigint, balance_minor, ?::integer, ?, ?, ?::integer, ?, ?, ?::timestamptz from moved
     returning balance_minor`,
    [
      row.amount_minor,
      row.reseller_id,
      row.entry_id,
      row.reseller_id,
      row.kind,
      row.amount_minor,
      row.licenses,
      row.app_id,
      row.tier,
      row.duration_days,
      row.reference,
      row.note,
      row.created_at,
    ] as Knex.RawBinding[],
  );
  return rows[0]!.balance_minor;
}

/** Writes the debt and the waiting amount of a reseller. The caller has locked the reseller. */
export async function updateAside(
  trx: Knex.Transaction,
  resellerId: string,
  aside: { readonly owed_minor: number; readonly waiting_minor: number },
): Promise<void> {
  const { owed_minor, waiting_minor } = aside;
  await trx('resellers').where({ reseller_id: resellerId }).update({ owed_minor, waiting_minor });
}

/** Newest first, by sequence: the clocks of several nodes may disagree on the order. */
export async function listEntries(
  db: Knex,
  resellerId: string,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<EntryRow[]> {
  const query = db<EntryRow>('reseller_ledger')
    .where({ reseller_id: resellerId })
    .orderBy('sequence', 'desc')
    .limit(page.limit);
  if (page.before === undefined) return query;
  const last = db('reseller_ledger').where({ reseller_id: resellerId, entry_id: page.before });
  return query.where('sequence', '<', last.select('sequence'));
}

/** Records what each license cost, and its price before the commission if that is a separate entry. */
export async function insertPurchases(
  trx: Knex.Transaction,
  licenseIds: readonly string[],
  costMinor: number,
  grossMinor: number | null,
): Promise<void> {
  await trx.raw(
    `insert into reseller_purchases (license_id, cost_minor, gross_minor)
     select unnest(?::text[]), ?::bigint, ?::bigint`,
    [[...licenseIds], costMinor, grossMinor] as unknown as Knex.RawBinding[],
  );
}

export interface PurchaseRow {
  readonly cost_minor: number;
  /** Null when a single ledger entry has the net cost. */
  readonly gross_minor: number | null;
}

/** What a reseller paid for a license. */
export async function findPurchase(db: Knex, licenseId: string): Promise<PurchaseRow | undefined> {
  return db<PurchaseRow & { license_id: string }>('reseller_purchases')
    .where({ license_id: licenseId })
    .first('cost_minor', 'gross_minor');
}
