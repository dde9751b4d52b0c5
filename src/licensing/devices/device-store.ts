import type { Knex } from 'knex';
import type pg from 'pg';

export interface DeviceRow {
  readonly app_id: string;
  readonly device_id: string;
  readonly alg: 'EdDSA' | 'ES256';
  readonly public_key: Buffer;
  readonly hwid_digest: Buffer;
  readonly created_at: Date;
  readonly last_login_at: Date | null;
}

/** Inserts a device, or registers one that exists again. */
export async function upsertDevice(db: Knex, row: Omit<DeviceRow, 'last_login_at'>): Promise<void> {
  await db<DeviceRow>('devices')
    .insert({ ...row, last_login_at: null })
    .onConflict(['app_id', 'device_id'])
    .merge(['hwid_digest', 'created_at']);
}

/** Records a login on a device. */
export async function updateLastLogin(
  trx: Knex.Transaction,
  appId: string,
  deviceId: string,
  now: Date,
): Promise<number> {
  return trx<DeviceRow>('devices')
    .where({ app_id: appId, device_id: deviceId })
    .update({ last_login_at: now });
}

/** What identifies a device. */
export interface DeviceName {
  readonly appId: string;
  readonly deviceId: string;
}

/** Reads devices. @returns in their order; undefined for a device that does not exist */
export async function readDevices(
  client: pg.ClientBase,
  names: readonly DeviceName[],
): Promise<(DeviceRow | undefined)[]> {
  const { rows } = await client.query<DeviceRow & { place: string }>({
    name: 'find-devices',
    text: `select k.place, d.app_id, d.device_id, d.alg, d.public_key, d.hwid_digest
           from unnest($1::text[], $2::text[]) with ordinality k (app_id, device_id, place)
           join devices d on d.app_id = k.app_id and d.device_id = k.device_id`,
    values: [names.map(({ appId }) => appId), names.map(({ deviceId }) => deviceId)],
  });
  const found = Array<DeviceRow | undefined>(names.length).fill(undefined);
  for (const row of rows) found[Number(row.place) - 1] = row;
  return found;
}

/** Deletes devices that have not logged in since a time, or never since another. @returns how many */
export async function clearUnusedDevices(
  db: Knex,
  lastLoginBefore: Date,
  createdBefore: Date,
  limit: number,
): Promise<number> {
  // Checked twice, because a device may log in while the delete waits for its row.
  const isUnused = (devices: Knex.QueryBuilder) =>
    devices
      .where('created_at', '<', createdBefore)
      .where((login) => login.whereNull('last_login_at').orWhere('last_login_at', '<', lastLoginBefore));
  const some = isUnused(db('devices')).limit(limit).select('app_id', 'device_id');
  return isUnused(db('devices').whereIn(['app_id', 'device_id'], some)).delete();
}
