import type { Knex } from 'knex';

export interface OAuthClientRow {
  readonly client_id: string;
  /** Null for a client that has registered itself. */
  readonly developer_id: string | null;
  readonly name: string;
  /** Metadata of RFC 7591, without the secret. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly secret_sealed: Buffer | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly used_at: Date | null;
}

export async function insertClient(db: Knex, row: OAuthClientRow): Promise<void> {
  await db('oauth_clients').insert({ ...row, metadata: JSON.stringify(row.metadata) });
}

export async function findClient(db: Knex, clientId: string): Promise<OAuthClientRow | undefined> {
  return db<OAuthClientRow>('oauth_clients').where({ client_id: clientId }).first();
}

/** Reads a client, which nothing deletes until the transaction ends. */
export async function lockClientForShare(
  trx: Knex.Transaction,
  clientId: string,
): Promise<OAuthClientRow | undefined> {
  return trx<OAuthClientRow>('oauth_clients').where({ client_id: clientId }).forKeyShare().first();
}

/** Locks a client to change it. */
export async function lockClientForUpdate(
  trx: Knex.Transaction,
  developerId: string,
  clientId: string,
): Promise<OAuthClientRow | undefined> {
  return trx<OAuthClientRow>('oauth_clients')
    .where({ developer_id: developerId, client_id: clientId })
    .forUpdate()
    .first();
}

/** Locks the clients of a developer, always in the same order, so that there is no deadlock. */
export async function lockClientsForUpdate(trx: Knex.Transaction, developerId: string): Promise<string[]> {
  return trx('oauth_clients')
    .where({ developer_id: developerId })
    .orderBy('client_id')
    .forUpdate()
    .pluck('client_id');
}

/** Newest first; ids sort by time of creation. */
export async function listClients(
  db: Knex,
  developerId: string,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<OAuthClientRow[]> {
  const query = db<OAuthClientRow>('oauth_clients')
    .where({ developer_id: developerId })
    .orderBy('client_id', 'desc')
    .limit(page.limit);
  return page.before === undefined ? query : query.where('client_id', '<', page.before);
}

export async function updateClient(
  trx: Knex.Transaction,
  clientId: string,
  changes: Partial<Pick<OAuthClientRow, 'name' | 'metadata' | 'secret_sealed' | 'updated_at'>>,
): Promise<void> {
  const { metadata, ...rest } = changes;
  await trx('oauth_clients')
    .where({ client_id: clientId })
    .update({ ...rest, ...(metadata && { metadata: JSON.stringify(metadata) }) });
}

/** The ids of all clients with a secret. */
export async function listConfidentialClientIds(trx: Knex.Transaction): Promise<string[]> {
  return trx<OAuthClientRow>('oauth_clients').whereNotNull('secret_sealed').pluck('client_id');
}

/** Records the use of a client, at most once a day. */
export async function touchClient(db: Knex, clientId: string, now: Date, since: Date): Promise<void> {
  await db('oauth_clients')
    .where({ client_id: clientId })
    .where((query) => query.whereNull('used_at').orWhere('used_at', '<', since))
    .update({ used_at: now });
}

export async function deleteClient(trx: Knex.Transaction, clientId: string): Promise<void> {
  await trx('oauth_clients').where({ client_id: clientId }).delete();
}

/** Deletes self-registered clients that have not been used since a time. @returns how many */
export async function clearUnusedClients(db: Knex, usedBefore: Date, limit: number): Promise<number> {
  const unused = `developer_id is null and coalesce(used_at, created_at) < ?`;
  const some = db('oauth_clients').whereRaw(unused, [usedBefore]).limit(limit).select('client_id');
  // Checked twice, because a client may be used while the statement waits for its row.
  return db('oauth_clients').whereIn('client_id', some).whereRaw(unused, [usedBefore]).delete();
}
