import type { Knex } from 'knex';
import { createResealer } from '../../platform/database/reseal.ts';
import type { Keyring } from '../../platform/keyring.ts';

/** Stores the sealed id of a session: the session's row contains only its digest. */
export async function insertSessionId(
  trx: Knex.Transaction,
  sessionDigest: Buffer,
  sessionIdSealed: Buffer,
): Promise<void> {
  await trx('session_ids').insert({ session_digest: sessionDigest, session_id_sealed: sessionIdSealed });
}

/** The sealed ids of sessions; ids that were not kept are missing. */
export async function findSessionIds(
  db: Knex,
  sessionDigests: readonly Buffer[],
): Promise<{ readonly session_digest: Buffer; readonly session_id_sealed: Buffer }[]> {
  if (sessionDigests.length === 0) return [];
  return db('session_ids')
    .whereIn('session_digest', sessionDigests as Buffer[])
    .select('session_digest', 'session_id_sealed');
}

/** Reseals ids of sessions under the current master key, a batch at each call. @returns how many each call found */
export function createSessionIdResealer(
  db: Knex,
  keyring: Keyring,
  context: (sessionDigest: Buffer) => string,
): () => Promise<number> {
  const column = 'session_id_sealed';
  return createResealer(db, keyring, { table: 'session_ids', id: 'session_digest', column, context });
}
