import type { Knex } from 'knex';

export interface CredentialRow {
  readonly token_digest: Buffer;
  readonly agent_id: string;
  readonly credential_type: 'bearer_token' | 'jwt' | 'sandbox_token' | 'ephemeral_key';
  readonly scopes: string[];
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** A credential with the developer of its agent. */
export interface CredentialOwnerRow extends CredentialRow {
  readonly developer_id: string | null;
  /** Since when the developer is suspended. */
  readonly suspended_at: Date | null;
}

export async function insertCredential(trx: Knex.Transaction, row: CredentialRow): Promise<void> {
  await trx('agent_credentials').insert(row);
}

/**
 * A credential of an agent that is not revoked.
 * @param suspension a column `suspended_at` of the developer
 */
export async function findCredential(
  db: Knex,
  tokenDigest: Buffer,
  suspension: Knex.Raw,
): Promise<CredentialOwnerRow | undefined> {
  return db('agent_credentials as c')
    .join('agents as a', 'a.agent_id', 'c.agent_id')
    .where('c.token_digest', tokenDigest)
    .whereNull('a.revoked_at')
    .first<CredentialOwnerRow | undefined>('c.*', 'a.developer_id', suspension);
}

/** The agent of a credential, unless it is revoked. */
export async function findAgentOfCredential(db: Knex, tokenDigest: Buffer): Promise<string | undefined> {
  const row = await db('agent_credentials as c')
    .join('agents as a', 'a.agent_id', 'c.agent_id')
    .where('c.token_digest', tokenDigest)
    .whereNull('a.revoked_at')
    .first<{ agent_id: string } | undefined>('a.agent_id');
  return row?.agent_id;
}

/** The credentials that have not expired, newest first. */
export async function listCredentials(db: Knex, agentId: string, now: Date): Promise<CredentialRow[]> {
  return db<CredentialRow>('agent_credentials')
    .where({ agent_id: agentId })
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc');
}

/** Replaces the scopes of an agent's live credentials. @returns how many there are */
export async function replaceScopes(
  trx: Knex.Transaction,
  agentId: string,
  scopes: readonly string[],
  now: Date,
): Promise<number> {
  return trx('agent_credentials')
    .where({ agent_id: agentId })
    .where('expires_at', '>', now)
    .update({ scopes: [...scopes] });
}

/** Deletes the oldest credentials of the type of a new one, and keeps `stay` of them along with it. */
export async function endOldest(
  trx: Knex.Transaction,
  { token_digest, agent_id, credential_type }: CredentialRow,
  stay: number,
): Promise<void> {
  const over = trx('agent_credentials')
    .where({ agent_id, credential_type })
    .whereNot({ token_digest })
    .orderBy('created_at', 'desc')
    .offset(stay)
    .select('token_digest');
  await trx('agent_credentials').whereIn('token_digest', over).delete();
}

/** @returns the agent that the credential belonged to; undefined for an unknown one */
export async function deleteCredential(
  trx: Knex.Transaction,
  tokenDigest: Buffer,
): Promise<string | undefined> {
  const [row] = await trx<CredentialRow>('agent_credentials')
    .where({ token_digest: tokenDigest })
    .delete()
    .returning('agent_id');
  return row?.agent_id;
}

export async function deleteCredentialsOf(trx: Knex.Transaction, agentIds: readonly string[]): Promise<void> {
  await trx('agent_credentials').whereIn('agent_id', agentIds).delete();
}

/** @returns how many */
export async function clearExpiredCredentials(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db('agent_credentials')
    .where('expires_at', '<', expiredBefore)
    .limit(limit)
    .select('token_digest');
  return db('agent_credentials').whereIn('token_digest', some).delete();
}
