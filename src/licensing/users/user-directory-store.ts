import type { Knex } from 'knex';

/** The displayed columns of a user. */
export interface ListedRow {
  readonly user_id: string;
  readonly app_id: string;
  readonly username: string;
  readonly email: string | null;
  readonly role: string;
  readonly password_hash: string | null;
  readonly hwid_bound: boolean;
  readonly hwid_reset_at: Date | null;
  readonly created_at: Date;
}

const COLUMNS = `u.user_id, u.app_id, u.username, u.email, u.role, u.password_hash,
  u.hwid_digest is not null as hwid_bound,
  u.hwid_reset_at, u.created_at`;

/** The filter of a list of users; omitted members match all. */
export interface UserCondition {
  /** The beginning of the username key, or of the email address in lower case. */
  readonly beginning?: { readonly username: string; readonly email: string } | undefined;
  readonly banned?: boolean | undefined;
  /** The tier in force. */
  readonly tier?: string | undefined;
  readonly hwidBound?: boolean | undefined;
  readonly createdSince?: Date | undefined;
  readonly createdUntil?: Date | undefined;
}

/** The current time, and that of the application's subscription clock. */
export interface CurrentTimes {
  readonly now: Date;
  readonly clock: Date;
}

/** The upper bound of all texts with a prefix, compared by code points. */
const LAST = '\u{10FFFF}';

const WITH_USERNAME = '(u.username_key >= ? and u.username_key < ?)';
const WITH_EMAIL =
  '(u.email is not null and lower(u.email) collate "C" >= ? and lower(u.email) collate "C" < ?)';

/** Up to this many matches of a name, and of an address, are looked up by their indexes. */
const FEW = 1000;

/**
 * The users whose name or address has a prefix, by the two indexes. The planner would instead scan all users in the
 * order of the list, which is fast only if many of them match.
 * @returns undefined if many of them match
 */
async function findByBeginning(
  db: Knex,
  appId: string,
  beginning: NonNullable<UserCondition['beginning']>,
): Promise<string[] | undefined> {
  const [username, email] = rangesOf(beginning);
  const one = (condition: string) =>
    `(select u.user_id from users u where u.app_id = ? and ${condition} limit ${FEW + 1})`;
  const { rows } = await db.raw<{ rows: { user_id: string }[] }>(
    `${one(WITH_USERNAME)} union all ${one(WITH_EMAIL)}`,
    [appId, ...username, appId, ...email],
  );
  return rows.length > FEW ? undefined : rows.map(({ user_id }) => user_id);
}

/** The lower and upper bounds of a name and of an address with the prefix. */
function rangesOf({
  username,
  email,
}: NonNullable<UserCondition['beginning']>): [[string, string], [string, string]] {
  return [
    [username, username + LAST],
    [email, email + LAST],
  ];
}

/** Matching users of an application, newest first; ids sort by time of creation. */
export async function listUsers(
  db: Knex,
  appId: string,
  condition: UserCondition,
  { now, clock }: CurrentTimes,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<ListedRow[]> {
  const { beginning, banned, tier, hwidBound, createdSince, createdUntil } = condition;
  const query = db('users as u')
    .where('u.app_id', appId)
    .orderBy('u.user_id', 'desc')
    .limit(page.limit)
    .select<ListedRow[]>(db.raw(COLUMNS));
  if (page.before !== undefined) void query.where('u.user_id', '<', page.before);
  if (beginning) {
    const found = await findByBeginning(db, appId, beginning);
    if (found) void query.whereRaw('u.user_id = any (?::text[])', [found]);
    else void query.whereRaw(`(${WITH_USERNAME} or ${WITH_EMAIL})`, rangesOf(beginning).flat());
  }
  if (banned !== undefined) {
    void query.whereRaw(
      `${banned ? '' : 'not '}exists (select from bans b where b.user_id = u.user_id and b.kind = 'user'
        and (b.expires_at is null or b.expires_at > ?))`,
      [now],
    );
  }
  if (tier !== undefined) {
    void query.whereRaw(
      `exists (select from subscriptions s where s.user_id = u.user_id and s.tier = ?
        and s.starts_at <= ? and s.ends_at > ?)`,
      [tier, clock, clock],
    );
  }
  if (hwidBound !== undefined) void query[hwidBound ? 'whereNotNull' : 'whereNull']('u.hwid_digest');
  if (createdSince) void query.where('u.created_at', '>=', createdSince);
  if (createdUntil) void query.where('u.created_at', '<', createdUntil);
  return query;
}

/** A user of any application. */
export async function findListedUser(db: Knex, userId: string): Promise<ListedRow | undefined> {
  const [row] = await db('users as u').where('u.user_id', userId).select<ListedRow[]>(db.raw(COLUMNS));
  return row;
}
