import type { Knex } from 'knex';

export type BanKind = 'user' | 'hardware' | 'network';

export interface BanRow {
  readonly ban_id: string;
  readonly app_id: string;
  readonly kind: BanKind;
  readonly user_id: string | null;
  readonly hwid_digest: Buffer | null;
  readonly network: string | null;
  readonly reason: string | null;
  readonly expires_at: Date | null;
  readonly created_at: Date;
}

/** The subjects of a request; omitted ones are not checked. */
export interface Subject {
  readonly userId?: string;
  readonly hwidDigests?: readonly Buffer[];
  readonly address?: string;
}

/** The kind of a ban in force against a subject; undefined without one. */
export async function findBanKind(
  db: Knex,
  appId: string,
  { userId, hwidDigests = [], address }: Subject,
  now: Date,
): Promise<BanKind | undefined> {
  const { rows } = await db.raw<{ rows: { kind: BanKind }[] }>(
    `select kind from (
       select kind, expires_at from bans where app_id = :appId and kind = 'user' and user_id = :userId::text
       union all
       select kind, expires_at from bans
       where app_id = :appId and kind = 'hardware' and hwid_digest = any (:hwidDigests::bytea[])
       union all
       select kind, expires_at from bans where app_id = :appId and kind = 'network' and network >>= :address::inet
     ) found
     where expires_at is null or expires_at > :now
     order by kind desc limit 1`,
    {
      appId,
      now,
      userId: (userId ?? null) as string,
      hwidDigests: hwidDigests as Buffer[],
      address: (address ?? null) as string,
    } as Record<string, Knex.RawBinding>,
  );
  return rows[0]?.kind;
}

/** A machine and its address. */
export interface BannableClient {
  readonly hwidDigest: Buffer;
  readonly address: string;
}

/** Which of many machines (their digests in hexadecimal) and addresses have a ban in force against them. */
export async function findBannedClients(
  db: Knex,
  appId: string,
  clients: readonly BannableClient[],
  now: Date,
): Promise<{ readonly machines: ReadonlySet<string>; readonly addresses: ReadonlySet<string> }> {
  const { rows } = await db.raw<{ rows: { machine: string | null; address: string | null }[] }>(
    `select encode(m.digest, 'hex') as machine, null as address from unnest(:hwidDigests::bytea[]) m (digest)
     where exists (
       select from bans where app_id = :appId and kind = 'hardware' and hwid_digest = m.digest
         and (expires_at is null or expires_at > :now)
     )
     union all
     select null, a.address from unnest(:addresses::text[]) a (address)
     where exists (
       select from bans where app_id = :appId and kind = 'network' and network >>= a.address::inet
         and (expires_at is null or expires_at > :now)
     )`,
    {
      appId,
      now,
      hwidDigests: clients.map(({ hwidDigest }) => hwidDigest),
      addresses: [...new Set(clients.map(({ address }) => address))],
    } as unknown as Record<string, Knex.RawBinding>,
  );
  const named = (values: (string | null)[]) => new Set(values.filter((value) => value !== null));
  return {
    machines: named(rows.map(({ machine }) => machine)),
    addresses: named(rows.map(({ address }) => address)),
  };
}

export async function insertBans(trx: Knex.Transaction, rows: readonly BanRow[]): Promise<void> {
  if (rows.length > 0) await trx('bans').insert(rows);
}

export async function findBan(db: Knex, appId: string, banId: string): Promise<BanRow | undefined> {
  return db<BanRow>('bans').where({ app_id: appId, ban_id: banId }).first();
}

/** Newest first; ids sort by time of creation. */
export async function listBans(
  db: Knex,
  appId: string,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<BanRow[]> {
  const query = db<BanRow>('bans').where({ app_id: appId }).orderBy('ban_id', 'desc').limit(page.limit);
  return page.before === undefined ? query : query.where('ban_id', '<', page.before);
}

/** @returns the deleted ban; undefined if the application had no such ban */
export async function deleteBan(
  trx: Knex.Transaction,
  appId: string,
  banId: string,
): Promise<BanRow | undefined> {
  const [row] = await trx<BanRow>('bans').where({ app_id: appId, ban_id: banId }).delete('*');
  return row;
}

/** Whether there are bans of machines or networks, even expired ones. */
export async function hasClientBans(trx: Knex.Transaction, appId: string): Promise<boolean> {
  const row = await trx('bans')
    .where({ app_id: appId })
    .whereIn('kind', ['hardware', 'network'])
    .first('ban_id');
  return row !== undefined;
}

const inForce = (now: Date) => (query: Knex.QueryBuilder) =>
  void query.whereNull('expires_at').orWhere('expires_at', '>', now);

/** Bans of users that are in force, the oldest first. */
export async function findBansOfUsers(db: Knex, userIds: readonly string[], now: Date): Promise<BanRow[]> {
  if (userIds.length === 0) return [];
  return db<BanRow>('bans')
    .whereRaw('user_id = any (?::text[])', [[...userIds]])
    .where({ kind: 'user' })
    .where(inForce(now))
    .orderBy('ban_id')
    .select('*');
}

/** Deletes users' bans that are in force. @returns these bans, the oldest first */
export async function deleteBansOfUsers(
  trx: Knex.Transaction,
  userIds: readonly string[],
  now: Date,
): Promise<BanRow[]> {
  const rows = await trx<BanRow>('bans')
    .where({ kind: 'user' })
    .whereRaw('user_id = any (?::text[])', [[...userIds]])
    .where(inForce(now))
    .delete('*');
  return rows.sort((a, b) => (a.ban_id < b.ban_id ? -1 : 1));
}

/** Removes the references to users from bans of their machines. */
export async function forgetUsers(trx: Knex.Transaction, userIds: readonly string[]): Promise<void> {
  await trx('bans')
    .where({ kind: 'hardware' })
    .whereRaw('user_id = any (?::text[])', [[...userIds]])
    .update({ user_id: null });
}
