import type { Knex } from 'knex';
import { takeAdvisoryLock } from '../../../platform/database/advisory-lock.ts';

export interface ClaimRow {
  readonly claim_digest: Buffer;
  readonly agent_id: string;
  readonly requested_credential_type: 'bearer_token' | 'jwt' | null;
  readonly scopes: string[];
  readonly email: string | null;
  readonly developer_id: string | null;
  readonly view_digest: Buffer | null;
  readonly attempt_id: string | null;
  readonly otp_digest: Buffer | null;
  readonly otp_expires_at: Date | null;
  readonly otp_failures: number;
  readonly mails: number;
  readonly mailed_at: Date | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly completed_at: Date | null;
  readonly rejected_at: Date | null;
}

/** A claim with the members of the agent that its page shows. */
export interface ClaimViewRow extends ClaimRow {
  readonly name: string | null;
  readonly issuer: string | null;
  readonly revoked_at: Date | null;
}

export async function insertClaim(trx: Knex.Transaction, row: ClaimRow): Promise<void> {
  await trx('agent_claims').insert(row);
}

export async function findClaim(db: Knex, claimDigest: Buffer): Promise<ClaimRow | undefined> {
  return db<ClaimRow>('agent_claims').where({ claim_digest: claimDigest }).first();
}

/** Other claims of the same token wait for the caller's transaction. */
export async function lockClaimTokenForUpdate(trx: Knex.Transaction, claimDigest: Buffer): Promise<void> {
  await takeAdvisoryLock(trx, `agent-claim ${claimDigest.toString('hex')}`);
}

/** Other changes of the claim wait for the caller's transaction. */
export async function lockClaimForUpdate(
  trx: Knex.Transaction,
  claimDigest: Buffer,
): Promise<ClaimRow | undefined> {
  return trx<ClaimRow>('agent_claims').where({ claim_digest: claimDigest }).forUpdate().first();
}

export async function findClaimByView(db: Knex, viewDigest: Buffer): Promise<ClaimViewRow | undefined> {
  return db('agent_claims as c')
    .join('agents as a', 'a.agent_id', 'c.agent_id')
    .where('c.view_digest', viewDigest)
    .first<ClaimViewRow | undefined>('c.*', 'a.name', 'a.issuer', 'a.revoked_at');
}

export async function lockClaimByViewForUpdate(
  trx: Knex.Transaction,
  viewDigest: Buffer,
): Promise<ClaimRow | undefined> {
  return trx<ClaimRow>('agent_claims').where({ view_digest: viewDigest }).forUpdate().first();
}

export async function updateClaim(
  trx: Knex.Transaction,
  claimDigest: Buffer,
  changes: Partial<Omit<ClaimRow, 'claim_digest' | 'agent_id'>>,
): Promise<void> {
  await trx('agent_claims').where({ claim_digest: claimDigest }).update(changes);
}

/** Withdraws a developer's confirmations of claims that are not completed. */
export async function withdrawConfirmations(trx: Knex.Transaction, developerId: string): Promise<void> {
  await trx('agent_claims')
    .where({ developer_id: developerId, completed_at: null })
    .update({ developer_id: null, otp_digest: null });
}

/** @returns how many */
export async function clearClaims(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db('agent_claims').where('expires_at', '<', expiredBefore).limit(limit).select('claim_digest');
  return db('agent_claims').whereIn('claim_digest', some).delete();
}
