import type { Knex } from 'knex';
import { takeAdvisoryLock } from '../../platform/database/advisory-lock.ts';
import type { SubjectOfIssuer } from './issuer-state.ts';

/** Other admissions and revocations of the subject wait for the caller's transaction. */
export async function lockSubjectForUpdate(
  trx: Knex.Transaction,
  { issuer, subject }: SubjectOfIssuer,
): Promise<void> {
  await takeAdvisoryLock(trx, `agent-subject ${JSON.stringify([issuer, subject])}`);
}

/** @returns the developer that a subject is delegated to; this cannot change until the transaction ends */
export async function lockDelegationForShare(
  trx: Knex.Transaction,
  { issuer, subject }: SubjectOfIssuer,
): Promise<string | undefined> {
  const row = await trx('agent_delegations')
    .where({ issuer, subject })
    .forShare()
    .first<{ developer_id: string } | undefined>('developer_id');
  return row?.developer_id;
}

/** Delegates a subject to a developer: of two concurrent delegations the last one counts. */
export async function putDelegation(
  trx: Knex.Transaction,
  { issuer, subject }: SubjectOfIssuer,
  developerId: string,
  now: Date,
): Promise<void> {
  await trx('agent_delegations')
    .insert({ issuer, subject, developer_id: developerId, created_at: now })
    .onConflict(['issuer', 'subject'])
    .merge();
}

export async function deleteDelegations(
  trx: Knex.Transaction,
  which: SubjectOfIssuer | { readonly developer_id: string },
): Promise<void> {
  await trx('agent_delegations').where(which).delete();
}

/** Records the use of an assertion. @returns whether this is its first use */
export async function useAssertion(trx: Knex.Transaction, digest: Buffer, expiresAt: Date): Promise<boolean> {
  const inserted = await trx('used_assertions')
    .insert({ digest, expires_at: expiresAt })
    .onConflict('digest')
    .ignore()
    .returning('digest');
  return inserted.length === 1;
}

/** @returns how many */
export async function clearUsedAssertions(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db('used_assertions').where('expires_at', '<', expiredBefore).limit(limit).select('digest');
  return db('used_assertions').whereIn('digest', some).delete();
}
