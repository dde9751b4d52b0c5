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
 * Moves a balance and writes why, in one statement: nothing else changes a balance, so it is always the sum of the ledger.
 * The caller holds the reseller.
 * @returns the balance after it
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

/** Writes what of a reseller's money stands beside the balance. The caller holds the reseller. */
export async function updateAside(
  trx: Knex.Transaction,
  resellerId: string,
  aside: { readonly owed_minor: number; readonly waiting_minor: number },
): Promise<void> {
  const { owed_minor, waiting_minor } = aside;
  await trx('resellers').where({ reseller_id: resellerId }).update({ owed_minor, waiting_minor });
}

/** Newest first: in the order in which the balance changed, which clocks of several nodes need not agree on. */
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

/** Notes what each of some licences cost; and before the commission, where that was booked. */
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
  readonly app_id: string;
  readonly cost_minor: number;
  /** Null where one entry of the ledger tells what was paid. */
  readonly gross_minor: number | null;
}

/** What a reseller paid for a licence of his own, and whose application it is of. */
export async function findPurchase(
  db: Knex,
  resellerId: string,
  licenseId: string,
): Promise<PurchaseRow | undefined> {
  return db('reseller_purchases as p')
    .join('licenses as l', 'l.license_id', 'p.license_id')
    .where({ 'l.license_id': licenseId, 'l.reseller_id': resellerId })
    .first('l.app_id', 'p.cost_minor', 'p.gross_minor');
}
