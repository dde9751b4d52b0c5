import type { Knex } from 'knex';
import { lockExclusive, lockShared } from '../platform/database/advisory-lock.ts';
import { clearPreviousSecrets as clearSecrets } from '../platform/database/previous-secrets.ts';
import { createResealer } from '../platform/database/reseal.ts';
import type { Keyring } from '../platform/keyring.ts';
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
}

export interface ApplicationWithUsage extends ApplicationRow {
  readonly users: number;
}

export async function findApplication(db: Knex, appId: string): Promise<ApplicationRow | undefined> {
  return db<ApplicationRow>('applications').where({ app_id: appId }).whereNull('deleted_at').first();
}

/**
 * Reads an application as it stays until the transaction ends: whoever changes or deletes it waits. The lock is an
 * advisory one, because those queue fairly: with row locks, a stream of holders would keep a change out for ever.
 */
export async function holdApplication(
  trx: Knex.Transaction,
  appId: string,
): Promise<ApplicationRow | undefined> {
  await lockShared(trx, appId);
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

/** Reads an application of the developer as it stays until the transaction ends. */
export async function holdApplicationOfDeveloper(
  trx: Knex.Transaction,
  developerId: string,
  appId: string,
): Promise<ApplicationWithUsage | undefined> {
  await lockShared(trx, appId);
  return findApplicationOfDeveloper(trx, developerId, appId);
}

/**
 * The same by its row instead of the advisory lock: it waits for changes that are being written, and not behind one that still
 * waits for others.
 */
export async function pinApplicationOfDeveloper(
  trx: Knex.Transaction,
  developerId: string,
  appId: string,
): Promise<ApplicationWithUsage | undefined> {
  const [row] = await ofDeveloper(trx, developerId).where('a.app_id', appId).forShare('a');
  return row;
}

/** Reads an application of the developer for a change: who holds it or changes it is waited for. */
export async function lockApplicationOfDeveloper(
  trx: Knex.Transaction,
  developerId: string,
  appId: string,
): Promise<ApplicationWithUsage | undefined> {
  // Nobody waits for what is not his.
  if (!(await findApplicationOfDeveloper(trx, developerId, appId))) return undefined;
  await lockExclusive(trx, appId);
  return findApplicationOfDeveloper(trx, developerId, appId);
}

/** Newest first; ids sort by time of creation. */
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

/** How many applications the developer of one has, up to it in the order of their making. */
const PLACE = `(select count(*) from applications before
  where before.developer_id = a.developer_id and before.deleted_at is null and before.app_id <= a.app_id)`;

/**
 * Sets from when on logins are refused, for those applications of a developer for which a plan has no room; an earlier moment
 * stays, and where there is room there is none.
 */
export async function setGrace(
  trx: Knex.Transaction,
  developerId: string,
  planId: string,
  graceEndsAt: Date,
): Promise<void> {
  await trx.raw(
    `update applications a set grace_ends_at = case
       when u.users <= p.max_users_per_app and ${PLACE} <= p.max_apps then null
       else coalesce(a.grace_ends_at, :graceEndsAt::timestamptz) end
     from application_usage u, plans p
     where a.developer_id = :developerId and a.deleted_at is null and u.app_id = a.app_id and p.plan_id = :planId`,
    { developerId, planId, graceEndsAt },
  );
}

/**
 * Whether the developer's plan has room for an application as it is: for all its users, and for it beside those that were made
 * before it.
 */
export async function hasRoom(db: Knex, appId: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { room: boolean }[] }>(
    `select u.users <= p.max_users_per_app and ${PLACE} <= p.max_apps as room
     from applications a join application_usage u using (app_id) join developers d using (developer_id)
       join plans p using (plan_id) where a.app_id = ?`,
    [appId],
  );
  return rows[0]?.room ?? true;
}

/** Gives a new secret, and keeps the current one as the one before until a moment; null keeps none. */
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
      // By the database: the value may be sealed anew between our reading and writing.
      previous_secret_sealed: previousUntil === null ? null : trx.ref('secret_sealed'),
      previous_secret_until: previousUntil,
      updated_at: now,
    });
}

/** Deletes secrets whose overlap is over. @returns how many */
export function clearPreviousSecrets(db: Knex, now: Date, limit: number): Promise<number> {
  return clearSecrets(
    db,
    { table: 'applications', id: 'app_id', until: 'previous_secret_until' },
    now,
    limit,
  );
}

/** The application that was deleted first, of those whose rows are still there. */
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

/** Deletes the row of a deleted application that nothing refers to any more. */
export async function forgetApplication(db: Knex, appId: string): Promise<void> {
  await db('applications').where({ app_id: appId }).whereNotNull('deleted_at').delete();
}

/** Seals secrets anew under the current master key, a part at a call. @returns how many each call found */
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
