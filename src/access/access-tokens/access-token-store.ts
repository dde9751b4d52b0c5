import type { Knex } from 'knex';

export interface AccessTokenRow {
  readonly token_digest: Buffer;
  readonly client_id: string;
  readonly developer_id: string | null;
  readonly agent_id: string | null;
  readonly grant_id: string | null;
  readonly scopes: string[];
  readonly audience: string;
  readonly created_at: Date;
  readonly expires_at: Date;
}

export async function insertAccessToken(db: Knex, row: AccessTokenRow): Promise<void> {
  await db('access_tokens').insert(row);
}

/** A token, and since when its developer is suspended. */
export interface CheckedTokenRow extends AccessTokenRow {
  readonly suspended_at: Date | null;
}

/** @param suspension a column `suspended_at` of the developer */
export async function findAccessToken(
  db: Knex,
  tokenDigest: Buffer,
  suspension: Knex.Raw,
): Promise<CheckedTokenRow | undefined> {
  return db('access_tokens')
    .where({ token_digest: tokenDigest })
    .first<CheckedTokenRow | undefined>('access_tokens.*', suspension);
}

/** @returns how many */
export async function deleteAccessTokens(
  db: Knex,
  which: Partial<Pick<AccessTokenRow, 'token_digest' | 'client_id' | 'agent_id' | 'grant_id'>>,
): Promise<number> {
  return db('access_tokens').where(which).delete();
}

/** @returns how many */
export async function clearExpiredTokens(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db('access_tokens')
    .where('expires_at', '<', expiredBefore)
    .limit(limit)
    .select('token_digest');
  return db('access_tokens').whereIn('token_digest', some).delete();
}
