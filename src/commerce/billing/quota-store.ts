import type { Knex } from 'knex';

export interface QuotaEntryRow {
  readonly entry_id: string;
  readonly developer_id: string;
  /** Licenses; negative for a reversal. */
  readonly amount: number;
  readonly invoice_id: string;
  readonly created_at: Date;
}

/** Records a change of a developer's license packs. */
export async function insertQuotaEntry(trx: Knex.Transaction, row: QuotaEntryRow): Promise<void> {
  await trx('license_quota_entries').insert(row);
}
