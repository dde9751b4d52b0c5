import type { Knex } from 'knex';
import { lockExclusive } from '../platform/database/advisory-lock.ts';
import type { SubjectOfIssuer } from './issuer-state.ts';

/** Whoever lets a subject in, or revokes it, comes before or after the caller's transaction. */
export async function lockSubject(
  trx: Knex.Transaction,
  { issuer, subject }: SubjectOfIssuer,
): Promise<void> {
  await lockExclusive(trx, `agent-subject ${JSON.stringify([issuer, subject])}`);
}

/** @returns the developer that a subject is; he stays it until the transaction ends */
export async function holdDelegation(
  trx: Knex.Transaction,
  { issuer, subject }: SubjectOfIssuer,
): Promise<string | undefined> {
  const row = await trx('agent_delegations')
    .where({ issuer, subject })
    .forShare()
    .first<{ developer_id: string } | undefined>('developer_id');
  return row?.developer_id;
}

/** Makes a subject a developer's: of two that agree at the same time the last one counts. */
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

/** Notes that an assertion was taken. @returns whether it had not been before */
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
