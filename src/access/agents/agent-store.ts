import type { Knex } from 'knex';
import type { SubjectOfIssuer } from './issuer-state.ts';

export interface AgentRow {
  readonly agent_id: string;
  readonly developer_id: string | null;
  readonly registration_type: 'agent-provider' | 'email-verification' | 'anonymous' | 'developer';
  readonly name: string | null;
  readonly issuer: string | null;
  readonly subject: string | null;
  readonly client_id: string | null;
  readonly email: string | null;
  readonly created_at: Date;
  readonly claimed_at: Date | null;
  readonly revoked_at: Date | null;
}

export async function insertAgent(trx: Knex.Transaction, row: AgentRow): Promise<void> {
  await trx('agents').insert(row);
}

export async function findAgent(db: Knex, agentId: string): Promise<AgentRow | undefined> {
  return db<AgentRow>('agents').where({ agent_id: agentId }).first();
}

/** Other changes of the agent wait for the caller's transaction. */
export async function lockAgentForUpdate(
  trx: Knex.Transaction,
  agentId: string,
): Promise<AgentRow | undefined> {
  return trx<AgentRow>('agents').where({ agent_id: agentId }).forUpdate().first();
}

export async function findAgentOf(
  db: Knex,
  developerId: string,
  agentId: string,
): Promise<AgentRow | undefined> {
  return db<AgentRow>('agents').where({ agent_id: agentId, developer_id: developerId }).first();
}

/** The live, claimed agent of a client of an issuer, for one of its subjects. */
export async function lockAgentOfSubjectForUpdate(
  trx: Knex.Transaction,
  { issuer, subject }: SubjectOfIssuer,
  clientId: string,
): Promise<AgentRow | undefined> {
  return trx<AgentRow>('agents')
    .where({ issuer, subject, client_id: clientId, registration_type: 'agent-provider' })
    .whereNotNull('developer_id')
    .whereNull('revoked_at')
    .forUpdate()
    .first();
}

/** Newest first; ids sort by time of creation. */
export async function listAgents(
  db: Knex,
  developerId: string,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<AgentRow[]> {
  const query = db<AgentRow>('agents')
    .where({ developer_id: developerId })
    .orderBy('agent_id', 'desc')
    .limit(page.limit);
  return page.before === undefined ? query : query.where('agent_id', '<', page.before);
}

export async function updateAgent(
  trx: Knex.Transaction,
  agentId: string,
  changes: Partial<Pick<AgentRow, 'developer_id' | 'email' | 'name' | 'claimed_at'>>,
): Promise<void> {
  await trx('agents').where({ agent_id: agentId }).update(changes);
}

/** Marks live agents as revoked. @returns the ones that this call has revoked */
export async function markRevoked(
  trx: Knex.Transaction,
  which: Partial<Pick<AgentRow, 'agent_id' | 'developer_id' | 'issuer' | 'subject'>>,
  now: Date,
): Promise<AgentRow[]> {
  return trx<AgentRow>('agents')
    .where(which)
    .whereNull('revoked_at')
    .update({ revoked_at: now })
    .returning('*');
}

/** Whether an agent exists and is not revoked. */
export async function isAlive(db: Knex, agentId: string): Promise<boolean> {
  const row = await db('agents').where({ agent_id: agentId }).whereNull('revoked_at').first('agent_id');
  return row !== undefined;
}

/** The asserted identities of a developer's agents. */
export async function listSubjectsOf(db: Knex, developerId: string): Promise<SubjectOfIssuer[]> {
  const ofAgents = db('agents')
    .where({ developer_id: developerId })
    .whereNull('revoked_at')
    .whereNotNull('issuer')
    .select('issuer', 'subject');
  const ofDelegations = db('agent_delegations')
    .where({ developer_id: developerId })
    .select('issuer', 'subject');
  return ofAgents.union([ofDelegations]);
}

/** Deletes revoked agents. @returns how many */
export async function clearRevoked(db: Knex, revokedBefore: Date, limit: number): Promise<number> {
  const some = db('agents').where('revoked_at', '<', revokedBefore).limit(limit).select('agent_id');
  return db('agents').whereIn('agent_id', some).delete();
}

/** Deletes unclaimed agents that can no longer be claimed. @returns how many */
export async function clearUnclaimed(
  db: Knex,
  createdBefore: Date,
  claimableUntil: Date,
  limit: number,
): Promise<number> {
  const some = db('agents as a')
    .whereNull('a.developer_id')
    .where('a.created_at', '<', createdBefore)
    .whereNotExists(
      db('agent_claims as c')
        .whereRaw('c.agent_id = a.agent_id')
        .where('c.expires_at', '>', claimableUntil)
        .select('c.agent_id'),
    )
    .limit(limit)
    .select('a.agent_id');
  return db('agents').whereIn('agent_id', some).delete();
}
