import type { Knex } from 'knex';

export interface ApiTokenRow {
  readonly token_id: string;
  readonly token_digest: Buffer;
  readonly developer_id: string;
  readonly reseller_id: string | null;
  readonly name: string;
  readonly scopes: string[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
  /** Null for never. */
  readonly last_used_at: Date | null;
}

/** A token, and since when its developer is suspended. */
export interface CheckedTokenRow extends ApiTokenRow {
  readonly suspended_at: Date | null;
}

export async function insertApiToken(trx: Knex.Transaction, row: ApiTokenRow): Promise<void> {
  await trx('api_tokens').insert(row);
}

/** @param suspension a column `suspended_at` of the developer */
export async function findApiToken(
  db: Knex,
  which: Pick<ApiTokenRow, 'token_digest'> | Pick<ApiTokenRow, 'token_id'>,
  suspension: Knex.Raw,
): Promise<CheckedTokenRow | undefined> {
  return db('api_tokens').where(which).first<CheckedTokenRow | undefined>('api_tokens.*', suspension);
}

/** Locks a token for share: revoking it waits until the transaction ends. */
export async function lockApiTokenForShare(
  trx: Knex.Transaction,
  tokenId: string,
): Promise<ApiTokenRow | undefined> {
  return trx<ApiTokenRow>('api_tokens').where({ token_id: tokenId }).forKeyShare().first();
}

/**
 * Records the last uses of some tokens, by their ids. Tokens that are locked are left out: another node writes them, or
 * they are being deleted.
 */
export async function updateLastUses(db: Knex, uses: ReadonlyMap<string, Date>): Promise<void> {
  await db.raw(
    `with uses as (select * from unnest(?::text[], ?::timestamptz[]) as u (token_id, used_at)),
     found as (
       select token_id from api_tokens where token_id in (select token_id from uses)
       for no key update skip locked
     )
     update api_tokens as t set last_used_at = uses.used_at from uses join found using (token_id)
     where t.token_id = uses.token_id and (t.last_used_at is null or t.last_used_at < uses.used_at)`,
    [[...uses.keys()], [...uses.values()]],
  );
}

/** Newest first; ids sort by time of creation. */
export async function listApiTokens(
  db: Knex,
  owner: { readonly developerId: string; readonly resellerId: string | null },
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<ApiTokenRow[]> {
  const query = db<ApiTokenRow>('api_tokens')
    .where({ developer_id: owner.developerId, reseller_id: owner.resellerId })
    .orderBy('token_id', 'desc')
    .limit(page.limit);
  return page.before === undefined ? query : query.where('token_id', '<', page.before);
}

/** @returns whether the owner had such a token */
export async function deleteApiToken(
  trx: Knex.Transaction,
  owner: { readonly developerId: string; readonly resellerId: string | null },
  tokenId: string,
): Promise<boolean> {
  const deleted = await trx('api_tokens')
    .where({ developer_id: owner.developerId, reseller_id: owner.resellerId, token_id: tokenId })
    .delete();
  return deleted === 1;
}

/** Deletes all tokens of a developer and of their resellers. @returns how many */
export async function deleteApiTokensOf(trx: Knex.Transaction, developerId: string): Promise<number> {
  return trx('api_tokens').where({ developer_id: developerId }).delete();
}

/** Deletes all tokens of a reseller. */
export async function deleteApiTokensOfReseller(trx: Knex.Transaction, resellerId: string): Promise<void> {
  await trx('api_tokens').where({ reseller_id: resellerId }).delete();
}

/** Deletes expired tokens. @returns how many */
export async function clearExpiredTokens(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db('api_tokens').where('expires_at', '<', expiredBefore).limit(limit).select('token_id');
  return db('api_tokens').whereIn('token_id', some).delete();
}
