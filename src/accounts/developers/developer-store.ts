import type { Knex } from 'knex';
import { isUniqueViolation } from '../../platform/database/errors.ts';
import type { DeveloperSessionRow } from './developer-session-row.ts';
import type { AccountRow, DeveloperRow } from './developer-row.ts';

export async function findDeveloper(db: Knex, emailKey: string): Promise<DeveloperRow | undefined> {
  return db<DeveloperRow>('developers').where({ email_key: emailKey }).first();
}

type NewDeveloperRow = Omit<DeveloperRow, 'sign_in_generation' | 'suspended_at' | 'suspension_reason'>;

/** @returns false when an account with this address already exists */
export async function insertDeveloper(trx: Knex.Transaction, row: NewDeveloperRow): Promise<boolean> {
  try {
    await trx('developers').insert(row);
    return true;
  } catch (error) {
    if (isUniqueViolation(error, 'developers_email_key')) return false;
    throw error;
  }
}

/** @returns false when an account with this address already exists; the transaction stays usable */
export async function insertDeveloperOnce(trx: Knex.Transaction, row: NewDeveloperRow): Promise<boolean> {
  const inserted = await trx('developers')
    .insert(row)
    .onConflict('email_key')
    .ignore()
    .returning('developer_id');
  return inserted.length === 1;
}

/** Sets the first password of an account. @returns false when it already has one */
export async function insertPassword(
  trx: Knex.Transaction,
  developerId: string,
  passwordHash: string,
  verifiedAt: Date,
): Promise<boolean> {
  const updated = await trx('developers')
    .where({ developer_id: developerId, has_password: false })
    .update({ password_hash: passwordHash, has_password: true, email_verified_at: verifiedAt });
  return updated === 1;
}

/** Replaces a hash with one that has newer parameters, unless the password has changed since. */
export async function replacePasswordHash(
  db: Knex,
  developer: DeveloperRow,
  passwordHash: string,
): Promise<void> {
  await db('developers')
    .where({ developer_id: developer.developer_id, password_hash: developer.password_hash })
    .update({ password_hash: passwordHash });
}

/** What a developer can share with other applications. */
export async function findProfile(
  db: Knex,
  developerId: string,
): Promise<
  Pick<DeveloperRow, 'email' | 'name' | 'email_verified_at' | 'created_at' | 'suspended_at'> | undefined
> {
  return db<DeveloperRow>('developers')
    .where({ developer_id: developerId })
    .first('email', 'name', 'email_verified_at', 'created_at', 'suspended_at');
}

/** A session that was not ended together with all others. */
export async function findDeveloperSession(
  db: Knex,
  tokenDigest: Buffer,
): Promise<(DeveloperSessionRow & Pick<DeveloperRow, 'suspended_at'>) | undefined> {
  return db('developer_sessions as s')
    .join('developers as d', (on) =>
      on.on('d.developer_id', 's.developer_id').andOn('d.sign_in_generation', 's.sign_in_generation'),
    )
    .where({ token_digest: tokenDigest })
    .first('s.*', 'd.suspended_at');
}

/**
 * Locks a developer's sign-ins for share, and one session if given: ending them waits until the transaction
 * ends.
 * @returns whether the developer exists, and the session if given
 */
export async function lockSessionForShare(
  trx: Knex.Transaction,
  developerId: string,
  tokenDigest: Buffer | undefined,
): Promise<boolean> {
  const developer = await trx<DeveloperRow>('developers')
    .where({ developer_id: developerId })
    .forShare()
    .first('sign_in_generation');
  if (!developer || !tokenDigest) return developer !== undefined;
  const { sign_in_generation } = developer;
  const session = await trx<DeveloperSessionRow>('developer_sessions')
    .where({ token_digest: tokenDigest, developer_id: developerId, sign_in_generation })
    .forKeyShare()
    .first('developer_id');
  return session !== undefined;
}

/** Ends a session. @returns whether it existed */
export async function deleteDeveloperSession(trx: Knex.Transaction, tokenDigest: Buffer): Promise<boolean> {
  return (await trx('developer_sessions').where({ token_digest: tokenDigest }).delete()) === 1;
}

/**
 * Ends all sign-ins of a developer, including those in progress.
 * @param except digest of the token of a session that continues
 * @returns how many sessions were ended; undefined when the session that should continue has already ended
 */
export async function endSignIns(
  trx: Knex.Transaction,
  developerId: string,
  except: Buffer | undefined,
): Promise<number | undefined> {
  const [developer] = await trx<DeveloperRow>('developers')
    .where({ developer_id: developerId })
    .increment('sign_in_generation', 1)
    .returning('sign_in_generation');
  const sessions = () => trx('developer_sessions').where({ developer_id: developerId });
  if (!except) return sessions().delete();
  const { sign_in_generation: generation } = developer!;
  const kept = await sessions()
    .where({ token_digest: except, sign_in_generation: generation - 1 })
    .update({ sign_in_generation: generation });
  if (kept === 0) return undefined;
  return sessions().whereNot({ token_digest: except }).delete();
}

/**
 * Locks a developer's sign-ins for update: ending or locking them waits until the transaction ends.
 * @returns the current generation; undefined when there is no such developer
 */
export async function lockSignInsForUpdate(
  trx: Knex.Transaction,
  developerId: string,
): Promise<number | undefined> {
  const row = await trx<DeveloperRow>('developers')
    .where({ developer_id: developerId })
    .forNoKeyUpdate()
    .first('sign_in_generation');
  return row?.sign_in_generation;
}

/** @returns undefined when there is no such developer, or they are suspended */
export async function findSignInGeneration(db: Knex, developerId: string): Promise<number | undefined> {
  const row = await db<DeveloperRow>('developers')
    .where({ developer_id: developerId })
    .whereNull('suspended_at')
    .first('sign_in_generation');
  return row?.sign_in_generation;
}

/** A developer with what they use of their plan. */
export async function findAccount(db: Knex, developerId: string): Promise<AccountRow | undefined> {
  return db<AccountRow>('developers')
    .where({ developer_id: developerId })
    .first(
      'developer_id',
      'email',
      'name',
      'plan_id',
      'created_at',
      'apps',
      'license_packs',
      'licenses_generated',
      'plan_lapsed_at',
      'customer_ref',
    );
}

export async function returnApplicationSeat(trx: Knex.Transaction, developerId: string): Promise<void> {
  await trx('developers').where({ developer_id: developerId }).decrement('apps', 1);
}

/** The plan of a developer. */
export async function findPlanId(db: Knex, developerId: string): Promise<string> {
  const row = await db<DeveloperRow>('developers').where({ developer_id: developerId }).first('plan_id');
  return row!.plan_id;
}

export async function updateDeveloper(
  trx: Knex.Transaction,
  developerId: string,
  changes: Partial<
    Pick<DeveloperRow, 'plan_id' | 'password_hash' | 'has_password' | 'email_verified_at'> &
      Pick<AccountRow, 'plan_lapsed_at' | 'customer_ref'>
  >,
): Promise<void> {
  await trx('developers').where({ developer_id: developerId }).update(changes);
}

/** Adds license keys to a developer's packs; a negative amount removes them. */
export async function movePacks(trx: Knex.Transaction, developerId: string, amount: number): Promise<void> {
  await trx('developers').where({ developer_id: developerId }).increment('license_packs', amount);
}

/** Deletes expired sessions. @returns how many */
export async function clearExpiredSessions(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db('developer_sessions')
    .where('expires_at', '<', expiredBefore)
    .limit(limit)
    .select('token_digest');
  return db('developer_sessions').whereIn('token_digest', some).delete();
}
