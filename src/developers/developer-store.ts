import type { Knex } from 'knex';
import { isUniqueViolation } from '../platform/database/errors.ts';

export interface DeveloperRow {
  readonly developer_id: string;
  readonly email: string;
  readonly email_key: string;
  readonly name: string | null;
  readonly password_hash: string;
  readonly plan_id: string;
  readonly created_at: Date;
  readonly email_verified_at: Date | null;
  /** False for an account that an agent has opened for somebody. */
  readonly has_password: boolean;
  /** How often all that he had signed in to was ended. */
  readonly sign_in_generation: number;
}

export interface DeveloperSessionRow {
  readonly token_digest: Buffer;
  readonly developer_id: string;
  /** The developer's, when his password was looked at. */
  readonly sign_in_generation: number;
  readonly created_at: Date;
  readonly expires_at: Date;
}

export async function findDeveloper(db: Knex, emailKey: string): Promise<DeveloperRow | undefined> {
  return db<DeveloperRow>('developers').where({ email_key: emailKey }).first();
}

type NewDeveloperRow = Omit<DeveloperRow, 'sign_in_generation'>;

/** @returns false when there is an account with this address already */
export async function insertDeveloper(trx: Knex.Transaction, row: NewDeveloperRow): Promise<boolean> {
  try {
    await trx('developers').insert(row);
    return true;
  } catch (error) {
    if (isUniqueViolation(error, 'developers_email_key')) return false;
    throw error;
  }
}

/** @returns false when there is an account with this address already: the transaction goes on */
export async function insertDeveloperOnce(trx: Knex.Transaction, row: NewDeveloperRow): Promise<boolean> {
  const inserted = await trx('developers')
    .insert(row)
    .onConflict('email_key')
    .ignore()
    .returning('developer_id');
  return inserted.length === 1;
}

/** Gives an account a password that has none. @returns whether it had none */
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

/** Replaces a hash by one with newer parameters, unless the password was changed in the meantime. */
export async function replacePasswordHash(
  db: Knex,
  developer: DeveloperRow,
  passwordHash: string,
): Promise<void> {
  await db('developers')
    .where({ developer_id: developer.developer_id, password_hash: developer.password_hash })
    .update({ password_hash: passwordHash });
}

/** What others may be told of a developer who lets them. */
export async function findProfile(
  db: Knex,
  developerId: string,
): Promise<Pick<DeveloperRow, 'email' | 'name' | 'email_verified_at' | 'created_at'> | undefined> {
  return db<DeveloperRow>('developers')
    .where({ developer_id: developerId })
    .first('email', 'name', 'email_verified_at', 'created_at');
}

export async function insertDeveloperSession(trx: Knex.Transaction, row: DeveloperSessionRow): Promise<void> {
  await trx('developer_sessions').insert(row);
}

/** A session that was not ended with all others. */
export async function findDeveloperSession(
  db: Knex,
  tokenDigest: Buffer,
): Promise<DeveloperSessionRow | undefined> {
  return db('developer_sessions as s')
    .join('developers as d', (on) =>
      on.on('d.developer_id', 's.developer_id').andOn('d.sign_in_generation', 's.sign_in_generation'),
    )
    .where({ token_digest: tokenDigest })
    .first<DeveloperSessionRow | undefined>('s.*');
}

/**
 * Whoever ends all that a developer has signed in to, or the session that is told, comes before or after the caller's transaction.
 * @returns whether that session is there
 */
export async function holdSession(
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

/** Ends a session. @returns whether it was there */
export async function deleteDeveloperSession(trx: Knex.Transaction, tokenDigest: Buffer): Promise<boolean> {
  return (await trx('developer_sessions').where({ token_digest: tokenDigest }).delete()) === 1;
}

/**
 * Ends everything that a developer has signed in to, also what is just being signed in to.
 * @param except digest of the token of a session that goes on
 * @returns how many sessions there were; undefined when that one has ended already
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

/** Whoever ends what a developer has signed in to comes before or after the caller's transaction, which may do so itself. */
export async function lockSignIns(trx: Knex.Transaction, developerId: string): Promise<number | undefined> {
  const row = await trx<DeveloperRow>('developers')
    .where({ developer_id: developerId })
    .forNoKeyUpdate()
    .first('sign_in_generation');
  return row?.sign_in_generation;
}

/** Undefined when there is no such developer. */
export async function findSignInGeneration(db: Knex, developerId: string): Promise<number | undefined> {
  const row = await db<DeveloperRow>('developers')
    .where({ developer_id: developerId })
    .first('sign_in_generation');
  return row?.sign_in_generation;
}

export interface AccountRow extends Pick<
  DeveloperRow,
  'developer_id' | 'email' | 'name' | 'plan_id' | 'created_at'
> {
  readonly apps: number;
  readonly plan_name: string;
  readonly max_apps: number;
  readonly max_users_per_app: number;
  /** Null is no limit. */
  readonly max_licenses: number | null;
  readonly license_packs: number;
  readonly licenses_generated: number;
  readonly plan_lapsed_at: Date | null;
  readonly customer_ref: string | null;
  /** In the fullest application. */
  readonly users: number;
}

/** A developer with his plan and what of it is used. */
export async function findAccount(db: Knex, developerId: string): Promise<AccountRow | undefined> {
  const fullest = db('applications as a')
    .join('application_usage as u', 'u.app_id', 'a.app_id')
    .where('a.developer_id', developerId)
    .whereNull('a.deleted_at')
    .max('u.users');
  return db('developers as d')
    .join('plans as p', 'p.plan_id', 'd.plan_id')
    .where('d.developer_id', developerId)
    .first<AccountRow>(
      'd.developer_id',
      'd.email',
      'd.name',
      'd.plan_id',
      'd.created_at',
      'd.apps',
      'p.name as plan_name',
      'p.max_apps',
      'p.max_users_per_app',
      'p.max_licenses',
      'd.license_packs',
      'd.licenses_generated',
      'd.plan_lapsed_at',
      'd.customer_ref',
      db.raw('coalesce((?), 0) as users', [fullest]),
    );
}

/** Counts one more application unless the plan has no room. @returns whether it had */
export async function takeApplicationSeat(trx: Knex.Transaction, developerId: string): Promise<boolean> {
  const taken = await trx.raw<{ rowCount: number }>(
    `update developers set apps = developers.apps + 1 from plans p
     where developers.developer_id = ? and p.plan_id = developers.plan_id and developers.apps < p.max_apps`,
    [developerId],
  );
  return taken.rowCount === 1;
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

/** Adds licences to a developer's packs; fewer where the amount is negative. */
export async function movePacks(trx: Knex.Transaction, developerId: string, amount: number): Promise<void> {
  await trx('developers').where({ developer_id: developerId }).increment('license_packs', amount);
}

/** How many licence keys the plan allows before packs; null is no limit. */
export async function findLicenseLimit(db: Knex, developerId: string): Promise<number | null> {
  const row = await db('developers as d')
    .join('plans as p', 'p.plan_id', 'd.plan_id')
    .where('d.developer_id', developerId)
    .first<{ max_licenses: number | null } | undefined>('p.max_licenses');
  return row?.max_licenses ?? null;
}

/** Counts licence keys unless plan and packs have no room for all of them. @returns whether they had */
export async function takeLicenses(
  trx: Knex.Transaction,
  developerId: string,
  amount: number,
): Promise<boolean> {
  const taken = await trx.raw<{ rowCount: number }>(
    `update developers d set licenses_generated = d.licenses_generated + :amount
     from plans p where d.developer_id = :developerId and p.plan_id = d.plan_id
       and (p.max_licenses is null or d.licenses_generated + :amount <= p.max_licenses + d.license_packs)`,
    { developerId, amount },
  );
  return taken.rowCount === 1;
}

/** Deletes sessions that expired. @returns how many */
export async function clearExpiredSessions(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db('developer_sessions')
    .where('expires_at', '<', expiredBefore)
    .limit(limit)
    .select('token_digest');
  return db('developer_sessions').whereIn('token_digest', some).delete();
}
