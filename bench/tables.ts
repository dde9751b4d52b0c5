import type { Knex } from 'knex';
import type pg from 'pg';
import { insertLicenses, type Batch } from '../src/licensing/licenses/license-store.ts';
import * as data from './data.ts';
import type { Device } from './devices.ts';

/*
 * All SQL that fills the service's tables. What data.ts makes from the number of a record is made here from
 * the column n.
 */

const SESSION_ID = `lpad(n::text, 21, '0') || 'A'`;
const SESSION_USER = `${data.FIRST_SESSION_USER} + n / ${data.SESSIONS_A_USER}`;
const userId = (user: string) => `'usr_01kb' || lpad((${user})::text, 22, '0')`;

/** @param appId the SQL of the application's id */
function tokenSql(appId: string): string {
  const claims =
    `'{"sid":"' || ${SESSION_ID} || '","aud":"' || ${appId} || '",${data.TOKEN_ISSUER},"sub":"' || ` +
    `${userId(SESSION_USER)} || '",${data.TOKEN_TIMES}}'`;
  // Such text has neither + nor / in base64, so that no slow translate() is needed to make it base64url.
  const payload = `rtrim(replace(encode((${claims})::bytea, 'base64'), E'\\n', ''), '=')`;
  return `'${data.TOKEN_HEADER}.' || ${payload} || '.' || lpad(n::text, 85, '0') || 'A'`;
}

/** The developer and users of one installation, as its tables hold them. */
export interface Rows {
  readonly appId: string;
  readonly sessions: number;
  readonly passwordHash: string;
  /** The stored digest of each machine, by its number. */
  readonly machineDigests: readonly Buffer[];
}

export async function insertUsers(client: pg.ClientBase, rows: Rows): Promise<void> {
  const count = data.userCount(rows.sessions);
  await client.query(
    `insert into users (user_id, app_id, username, username_key, password_hash, hwid_digest, created_at)
     select ${userId('n')}, $1, 'user-' || n, 'user-' || n, $2, digest, now()
     from generate_series(0, $3::bigint - 1) n
     join unnest($4::bytea[]) with ordinality m (digest, place) on place = n % ${data.MACHINES} + 1`,
    [rows.appId, rows.passwordHash, count, rows.machineDigests],
  );
  await client.query('update application_usage set users = $1 where app_id = $2', [count, rows.appId]);
}

/** Subscriptions of every second user of a session, one in ten of them ended. */
export async function insertSubscriptions(client: pg.ClientBase, { sessions }: Rows): Promise<void> {
  await client.query(
    `insert into subscriptions (user_id, tier, starts_at, ends_at)
     select ${userId('n')}, 'Pro', now() - interval '31 days',
       now() + case when n % 20 = 0 then -1 else 30 end * interval '1 day'
     from generate_series($1::bigint, $2::bigint - 1) n where n % 2 = 0`,
    [data.FIRST_SESSION_USER, data.userCount(sessions)],
  );
}

export async function insertSessions(client: pg.ClientBase, rows: Rows): Promise<void> {
  await withoutIndexes(client, 'sessions', () =>
    client.query(
      `insert into sessions (session_digest, token_digest, app_id, user_id, hwid_digest, created_at, expires_at)
       select sha256((${SESSION_ID})::bytea), sha256((${tokenSql('$1::text')})::bytea), $1, ${userId(SESSION_USER)},
         digest, now(), now() + interval '24 hours'
       from generate_series(0, $2::bigint - 1) n
       join unnest($3::bytea[]) with ordinality m (digest, place) on place = n % ${data.MACHINES} + 1`,
      [rows.appId, rows.sessions, rows.machineDigests],
    ),
  );
}

/** Devices by their numbers, and binds every session to one. */
export async function insertDevices(
  client: pg.ClientBase,
  { appId, machineDigests }: Rows,
  devices: readonly Device[],
): Promise<void> {
  await client.query(
    `insert into devices (app_id, device_id, alg, public_key, hwid_digest, created_at)
     select $1, device_id, 'EdDSA', public_key, hwid_digest, now()
     from unnest($2::text[], $3::bytea[], $4::bytea[]) d (device_id, public_key, hwid_digest)`,
    [
      appId,
      devices.map(({ deviceId }) => deviceId),
      devices.map(({ publicKey }) => publicKey),
      machineDigests,
    ],
  );
  await client.query(
    `update sessions s set device_id = d.device_id from devices d where d.hwid_digest = s.hwid_digest`,
  );
}

/** Keys of 30 days Pro. */
export async function insertLicenseKeys(knex: Knex, appId: string, keys: Batch['keys']): Promise<void> {
  const grant = { tier: 'Pro', duration_days: 30, note: null, redeem_by: null, reseller_id: null };
  await insertLicenses(knex, { app_id: appId, ...grant, created_at: new Date(), keys });
}

/**
 * Runs work in a transaction that takes the rows' references to each other for granted: they are right by the way they
 * are made, and checking them one by one takes long.
 */
export async function trusted(client: pg.ClientBase, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  await client.query('set local session_replication_role = replica');
  await client.query(`set local maintenance_work_mem = '512MB'`);
  // The connections are those of lookups by key.
  await client.query('set local enable_hashjoin = on; set local enable_seqscan = on');
  await work();
  await client.query('commit');
}

/** Fills a table and builds its indexes afterwards: each digest would land on another page of each index. */
async function withoutIndexes(
  client: pg.ClientBase,
  table: string,
  fill: () => Promise<unknown>,
): Promise<void> {
  // References to the table's key are dropped before it and restored after it.
  const { rows } = await client.query<{ remove: string; restore: string }>(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as remove,
       format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as restore,
       contype = 'f' as refers
     from pg_constraint where (conrelid = $1::regclass and contype in ('p', 'u', 'x'))
       or (confrelid = $1::regclass and contype = 'f')
     union all
     select format('drop index %s', indexrelid::regclass), pg_get_indexdef(indexrelid), false
     from pg_index where indrelid = $1::regclass
       and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
     order by refers desc`,
    [table],
  );
  for (const { remove } of rows) await client.query(remove);
  await fill();
  for (const { restore } of rows.reverse()) await client.query(restore);
}
