import type { Knex } from 'knex';
import { COUNTED_AT_MOST, type BoundedCount } from '../../platform/database/bounded-count.ts';
import { takeAdvisoryLock, takeSharedAdvisoryLock } from '../../platform/database/advisory-lock.ts';
import { clearPreviousSecrets as clearSecrets } from '../../platform/database/previous-secrets.ts';
import { createResealer } from '../../platform/database/reseal.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { PlanLimits } from '../plans/plan-state.ts';
import type { ApplicationStatus } from './application-state.ts';

export interface ApplicationRow {
  readonly app_id: string;
  readonly developer_id: string;
  readonly name: string;
  readonly secret_sealed: Buffer;
  readonly previous_secret_sealed: Buffer | null;
  readonly previous_secret_until: Date | null;
  readonly status: ApplicationStatus;
  readonly paused_at: Date | null;
  readonly paused_total_ms: number;
  readonly hwid_lock: boolean;
  readonly integrity_check: boolean;
  readonly executable_hashes: string[];
  readonly pause_sessions: boolean;
  readonly require_subscription: boolean;
  readonly require_signatures: boolean;
  readonly bind_responses: boolean;
  readonly secretless_clients: boolean;
  readonly require_client_trust: boolean;
  readonly block_vpn: boolean;
  readonly vpn_fail_closed: boolean;
  readonly has_client_bans: boolean;
  readonly minimum_version: string | null;
  readonly download_url: string | null;
  readonly max_sessions: number;
  readonly tiers: string[];
  readonly grace_ends_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly deleted_at: Date | null;
  /** Null unless the application is disabled because its developer is suspended. */
  readonly status_before_suspension: ApplicationStatus | null;
}

export interface ApplicationWithUsage extends ApplicationRow {
  readonly users: number;
}

export async function findApplication(db: Knex, appId: string): Promise<ApplicationRow | undefined> {
  return db<ApplicationRow>('applications').where({ app_id: appId }).whereNull('deleted_at').first();
}

/**
 * Locks an application for share and reads it. The lock is an advisory one, because those queue fairly: with
 * row locks, a steady stream of shared locks would keep a change out forever.
 */
export async function lockApplicationForShare(
  trx: Knex.Transaction,
  appId: string,
): Promise<ApplicationRow | undefined> {
  await takeSharedAdvisoryLock(trx, appId);
  return findApplication(trx, appId);
}

function ofDeveloper(db: Knex, developerId: string) {
  return db('applications as a')
    .join('application_usage as u', 'u.app_id', 'a.app_id')
    .where('a.developer_id', developerId)
    .whereNull('a.deleted_at')
    .select<ApplicationWithUsage[]>('a.*', 'u.users');
}

export async function findApplicationOfDeveloper(
  db: Knex,
  developerId: string,
  appId: string,
): Promise<ApplicationWithUsage | undefined> {
  const [row] = await ofDeveloper(db, developerId).where('a.app_id', appId);
  return row;
}

/** Locks an application of the developer for share and reads it. */
export async function lockApplicationOfDeveloperForShare(
  trx: Knex.Transaction,
  developerId: string,
  appId: string,
): Promise<ApplicationWithUsage | undefined> {
  await takeSharedAdvisoryLock(trx, appId);
  return findApplicationOfDeveloper(trx, developerId, appId);
}

/**
 * The same by the row instead of the advisory lock: it waits for a change that is being written, but not for
 * one that is still queued behind others.
 */
export async function lockApplicationRowForShare(
  trx: Knex.Transaction,
  developerId: string,
  appId: string,
): Promise<ApplicationWithUsage | undefined> {
  const [row] = await ofDeveloper(trx, developerId).where('a.app_id', appId).forShare('a');
  return row;
}

/** Locks an application of the developer for update and reads it. */
export async function lockApplicationOfDeveloperForUpdate(
  trx: Knex.Transaction,
  developerId: string,
  appId: string,
): Promise<ApplicationWithUsage | undefined> {
  // First without the lock, so that a developer cannot block the application of another one.
  if (!(await findApplicationOfDeveloper(trx, developerId, appId))) return undefined;
  await takeAdvisoryLock(trx, appId);
  return findApplicationOfDeveloper(trx, developerId, appId);
}

/** Newest first, because ids sort by time of creation. */
export async function listApplications(
  db: Knex,
  developerId: string,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<ApplicationWithUsage[]> {
  const query = ofDeveloper(db, developerId).orderBy('a.app_id', 'desc').limit(page.limit);
  return page.before === undefined ? query : query.where('a.app_id', '<', page.before);
}

export async function insertApplication(
  trx: Knex.Transaction,
  row: Pick<
    ApplicationRow,
    'app_id' | 'developer_id' | 'name' | 'secret_sealed' | 'created_at' | 'updated_at'
  >,
): Promise<void> {
  await trx('applications').insert(row);
  await trx('application_usage').insert({ app_id: row.app_id });
}

export async function updateApplication(
  trx: Knex.Transaction,
  appId: string,
  changes: Partial<ApplicationRow>,
): Promise<void> {
  await trx('applications').where({ app_id: appId }).update(changes);
}

/** The position of application `a` among the developer's applications, in order of creation. */
const PLACE = `(select count(*) from applications before
  where before.developer_id = a.developer_id and before.deleted_at is null and before.app_id <= a.app_id)`;

/**
 * Sets when logins are refused for a developer's applications that exceed the limits of a plan, and clears it
 * for the others. A time that is already set stays.
 */
export async function setGrace(
  trx: Knex.Transaction,
  developerId: string,
  { maxApps, maxUsersPerApp }: PlanLimits,
  graceEndsAt: Date,
): Promise<void> {
  await trx.raw(
    `update applications a set grace_ends_at = case
       when u.users <= :maxUsersPerApp::bigint and ${PLACE} <= :maxApps::bigint then null
       else coalesce(a.grace_ends_at, :graceEndsAt::timestamptz) end
     from application_usage u
     where a.developer_id = :developerId and a.deleted_at is null and u.app_id = a.app_id`,
    { developerId, maxApps, maxUsersPerApp, graceEndsAt },
  );
}

/** How much of the developer's plan an application uses. */
export interface PlanUse {
  readonly developer_id: string;
  readonly users: number;
  /** The position among the developer's applications, in order of creation. */
  readonly place: number;
}

export async function findPlanUse(db: Knex, appId: string): Promise<PlanUse | undefined> {
  const { rows } = await db.raw<{ rows: PlanUse[] }>(
    `select a.developer_id, u.users, ${PLACE}::integer as place
     from applications a join application_usage u using (app_id) where a.app_id = ?`,
    [appId],
  );
  return rows[0];
}

/** The number of users of the developer's application that has the most; 0 without applications. */
export async function countUsersOfLargestApplication(db: Knex, developerId: string): Promise<number> {
  const row = await db('applications as a')
    .join('application_usage as u', 'u.app_id', 'a.app_id')
    .where('a.developer_id', developerId)
    .whereNull('a.deleted_at')
    .max<{ users: number | null }>('u.users as users')
    .first();
  return row?.users ?? 0;
}

/** The ids of a developer's applications, in any order. */
export async function listApplicationIds(db: Knex, developerId: string): Promise<string[]> {
  return db<ApplicationRow>('applications')
    .where({ developer_id: developerId })
    .whereNull('deleted_at')
    .pluck('app_id');
}

/** The number of users of each application of a developer. */
export async function listUsers(
  db: Knex,
  developerId: string,
): Promise<{ readonly app_id: string; readonly users: number }[]> {
  return db('applications as a')
    .join('application_usage as u', 'u.app_id', 'a.app_id')
    .where('a.developer_id', developerId)
    .whereNull('a.deleted_at')
    .select('a.app_id', 'u.users');
}

/** The ids of a developer's applications and of those that were deleted and whose rows still exist. */
export async function listIdsWithDeleted(db: Knex, developerId: string): Promise<string[]> {
  return db<ApplicationRow>('applications').where({ developer_id: developerId }).pluck('app_id');
}

/** The developer of an application, deleted or not. */
export async function findOwner(db: Knex, appId: string): Promise<string | undefined> {
  const row = await db<ApplicationRow>('applications').where({ app_id: appId }).first('developer_id');
  return row?.developer_id;
}

/** How many applications of a developer are disabled because the developer is suspended. */
export async function countDisabledBySuspension(db: Knex, developerId: string): Promise<number> {
  const rows = await db<ApplicationRow>('applications')
    .where({ developer_id: developerId, status: 'disabled' })
    .whereNull('deleted_at')
    .whereNotNull('status_before_suspension')
    .select('app_id');
  return rows.length;
}

/** The applications of a developer among some ids. */
export async function findApplicationsOfDeveloper(
  db: Knex,
  developerId: string,
  appIds: readonly string[],
): Promise<ApplicationRow[]> {
  return db<ApplicationRow>('applications')
    .where({ developer_id: developerId })
    .whereNull('deleted_at')
    .whereRaw('app_id = any(?::text[])', [[...appIds]]);
}

/**
 * Replaces the secret, and keeps the current one as the previous one until a given time; null does not keep
 * it.
 */
export async function replaceSecret(
  trx: Knex.Transaction,
  appId: string,
  secretSealed: Buffer,
  previousUntil: Date | null,
  now: Date,
): Promise<void> {
  await trx('applications')
    .where({ app_id: appId })
    .update({
      secret_sealed: secretSealed,
      // Copied by the database, because the value may be encrypted again between a read and a write.
      previous_secret_sealed: previousUntil === null ? null : trx.ref('secret_sealed'),
      previous_secret_until: previousUntil,
      updated_at: now,
    });
}

/** Deletes secrets whose overlap has ended. @returns how many */
export function clearPreviousSecrets(db: Knex, now: Date, limit: number): Promise<number> {
  return clearSecrets(
    db,
    { table: 'applications', id: 'app_id', until: 'previous_secret_until' },
    now,
    limit,
  );
}

/** The application that was deleted first, of those whose rows still exist. */
export async function findDeletedApplication(
  db: Knex,
  except: readonly string[],
): Promise<string | undefined> {
  const row = await db<ApplicationRow>('applications')
    .whereNotNull('deleted_at')
    .whereNotIn('app_id', except as string[])
    .orderBy('deleted_at')
    .first('app_id');
  return row?.app_id;
}

/** Deletes the row of a deleted application, once nothing refers to it. */
export async function forgetApplication(db: Knex, appId: string): Promise<void> {
  await db('applications').where({ app_id: appId }).whereNotNull('deleted_at').delete();
}

/**
 * @returns a function that encrypts the next batch of secrets under the current master key, and returns its
 *   size
 */
export function createSecretResealer(
  db: Knex,
  keyring: Keyring,
  context: (id: string) => string,
): () => Promise<number> {
  const [current, previous] = ['secret_sealed', 'previous_secret_sealed'].map((column) =>
    createResealer(db, keyring, { table: 'applications', id: 'app_id', column, context }),
  );
  return async () => (await current!()) || (await previous!());
}

/** How many rows there are, counted up to a limit. */
export async function countRows(db: Knex): Promise<BoundedCount> {
  const { rows } = await db.raw<{ rows: BoundedCount[] }>(
    `select (select count(*) from (select from applications limit ?) as few)::int as counted,
       (select reltuples from pg_class where oid = 'applications'::regclass)::float8 as estimate`,
    [COUNTED_AT_MOST + 1],
  );
  return rows[0]!;
}
