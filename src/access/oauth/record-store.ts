import type { Knex } from 'knex';

export interface RecordRow {
  readonly model: string;
  readonly id_digest: Buffer;
  readonly grant_id: string | null;
  readonly user_code_digest: Buffer | null;
  readonly uid_digest: Buffer | null;
  readonly account_id: string | null;
  readonly client_id: string | null;
  readonly sealed: Buffer;
  readonly consumed_at: Date | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
}

export type RecordKey = Partial<Pick<RecordRow, 'id_digest' | 'uid_digest' | 'user_code_digest'>>;

/** Writes a record. A consumed one stays consumed. */
export async function upsertRecord(db: Knex, row: Omit<RecordRow, 'consumed_at'>): Promise<void> {
  const { model: _model, id_digest: _digest, created_at: _created, ...changed } = row;
  await db('oauth_records').insert(row).onConflict(['model', 'id_digest']).merge(changed);
}

/** The newest matching record. */
export async function findRecord(db: Knex, model: string, by: RecordKey): Promise<RecordRow | undefined> {
  return db<RecordRow>('oauth_records')
    .where({ model, ...by })
    .orderBy('created_at', 'desc')
    .first();
}

/** Marks a code or a token as used. @returns whether it existed and had not been used */
export async function consumeRecord(db: Knex, model: string, idDigest: Buffer, now: Date): Promise<boolean> {
  const consumed = await db('oauth_records')
    .where({ model, id_digest: idDigest })
    .whereNull('consumed_at')
    .update({ consumed_at: now });
  return consumed === 1;
}

export async function deleteRecord(db: Knex, model: string, idDigest: Buffer): Promise<void> {
  await db('oauth_records').where({ model, id_digest: idDigest }).delete();
}

/** Makes sure that a grant stays until the transaction ends. @returns whether there is one */
export async function lockGrantForShare(trx: Knex.Transaction, grantId: string): Promise<boolean> {
  const row = await trx<RecordRow>('oauth_records')
    .where({ model: 'Grant', grant_id: grantId })
    .forKeyShare()
    .first('model');
  return row !== undefined;
}

/** Deletes a grant. @returns the grant, if it existed */
export async function deleteGrant(
  trx: Knex.Transaction,
  grantId: string,
  accountId?: string,
): Promise<RecordRow | undefined> {
  const [row] = await trx<RecordRow>('oauth_records')
    .where({ model: 'Grant', grant_id: grantId, ...(accountId !== undefined && { account_id: accountId }) })
    .delete()
    .returning('*');
  return row;
}

/** Deletes the records of a grant or a client. */
export async function deleteRecords(
  trx: Knex.Transaction,
  which: Partial<Pick<RecordRow, 'grant_id' | 'client_id'>>,
): Promise<void> {
  await trx('oauth_records').where(which).delete();
}

/** The ids of the grants of a client or a developer, in order. */
export async function listGrantIds(
  trx: Knex.Transaction,
  of: Partial<Pick<RecordRow, 'account_id' | 'client_id'>>,
): Promise<string[]> {
  return trx('oauth_records')
    .where({ model: 'Grant', ...of })
    .orderBy('grant_id')
    .pluck('grant_id');
}

/** The unexpired grants of a developer, newest first; ids sort by time of creation. */
export async function listGrants(
  db: Knex,
  accountId: string,
  now: Date,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<RecordRow[]> {
  const query = db<RecordRow>('oauth_records')
    .where({ model: 'Grant', account_id: accountId })
    .where('expires_at', '>', now)
    .orderBy('grant_id', 'desc')
    .limit(page.limit);
  return page.before === undefined ? query : query.where('grant_id', '<', page.before);
}

/** @returns how many */
export async function clearExpiredRecords(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db('oauth_records')
    .where('expires_at', '<', expiredBefore)
    .limit(limit)
    .select('model', 'id_digest');
  return db('oauth_records').whereIn(['model', 'id_digest'], some).delete();
}
