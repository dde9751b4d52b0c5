import type { Knex } from 'knex';

export interface QuotaEntryRow {
  readonly entry_id: string;
  readonly developer_id: string;
  /** Licences; negative for what was taken back. */
  readonly amount: number;
  readonly invoice_id: string;
  readonly created_at: Date;
}

/** Notes a change of a developer's packs of licences. */
export async function insertQuotaEntry(trx: Knex.Transaction, row: QuotaEntryRow): Promise<void> {
  await trx('license_quota_entries').insert(row);
}
