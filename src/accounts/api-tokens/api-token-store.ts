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
}

export async function insertApiToken(trx: Knex.Transaction, row: ApiTokenRow): Promise<void> {
  await trx('api_tokens').insert(row);
}

export async function findApiToken(db: Knex, tokenDigest: Buffer): Promise<ApiTokenRow | undefined> {
  return db<ApiTokenRow>('api_tokens').where({ token_digest: tokenDigest }).first();
}

/** Locks a token for share: revoking it waits until the transaction ends. */
export async function lockApiTokenForShare(
  trx: Knex.Transaction,
  tokenId: string,
): Promise<ApiTokenRow | undefined> {
  return trx<ApiTokenRow>('api_tokens').where({ token_id: tokenId }).forKeyShare().first();
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
