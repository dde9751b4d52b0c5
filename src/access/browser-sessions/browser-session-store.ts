import type { Knex } from 'knex';

/** The session of a reseller, who has an API token, or of the administrator. */
export interface BrowserSessionRow {
  readonly cookie_digest: Buffer;
  readonly api_token_id: string | null;
  readonly administrator_mac: Buffer | null;
  readonly address: string;
  readonly created_at: Date;
  readonly expires_at: Date;
}

export async function insertBrowserSession(trx: Knex.Transaction, row: BrowserSessionRow): Promise<void> {
  await trx('browser_sessions').insert(row);
}

export async function findBrowserSession(
  db: Knex,
  cookieDigest: Buffer,
): Promise<BrowserSessionRow | undefined> {
  return db<BrowserSessionRow>('browser_sessions').where({ cookie_digest: cookieDigest }).first();
}

/** @returns whether it existed */
export async function deleteBrowserSession(trx: Knex.Transaction, cookieDigest: Buffer): Promise<boolean> {
  return (await trx('browser_sessions').where({ cookie_digest: cookieDigest }).delete()) === 1;
}

/** Deletes expired sessions. @returns how many */
export async function clearExpiredSessions(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db('browser_sessions')
    .where('expires_at', '<', expiredBefore)
    .limit(limit)
    .select('cookie_digest');
  return db('browser_sessions').whereIn('cookie_digest', some).delete();
}
