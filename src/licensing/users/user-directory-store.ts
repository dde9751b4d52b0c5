import type { Knex } from 'knex';
import { COUNTED_AT_MOST, type BoundedCount } from '../../platform/database/bounded-count.ts';
import {
  all,
  type Beginning,
  type Clause,
  createdRange,
  type CurrentTimes,
  endClauses,
  otherClauses,
  type UserCondition,
  withEmail,
  withUsername,
} from './user-condition-sql.ts';
import { userPlaces, type Ordered, type UserSort } from './user-order-state.ts';

/** The displayed columns of a user. */
export interface ListedRow extends Ordered {
  readonly app_id: string;
  readonly username: string;
  readonly email: string | null;
  readonly role: string;
  readonly password_hash: string | null;
  readonly hwid_bound: boolean;
  readonly hwid_reset_at: Date | null;
  readonly created_at: Date;
}

const COLUMNS = `u.user_id, u.app_id, u.username, u.username_key, u.email, u.role, u.password_hash,
  u.hwid_digest is not null as hwid_bound, u.hwid_reset_at, u.created_at, u.subscription_ends_at`;

/** The orders, each of which one index has, and what comes after a place in them. */
const ORDERS: Readonly<Record<UserSort, { readonly columns: string; readonly after: string }>> = {
  '-created_at': { columns: 'u.user_id desc', after: 'u.user_id < ?' },
  username: { columns: 'u.username_key', after: 'u.username_key > ?' },
  expires_at: {
    columns: 'u.subscription_ends_at, u.user_id',
    after: '(u.subscription_ends_at, u.user_id) > (?::timestamptz, ?)',
  },
};

/** Users that are looked at in their order before those that match are looked up by other indexes. */
const WINDOW = 20_000;

/** A page of a list. */
interface Range {
  readonly sort: UserSort;
  readonly after: string | undefined;
  readonly limit: number;
}

/**
 * Matching users of an application in an order. Where many match, a window of the order has a page of them; where few
 * match, an index of one of the conditions finds those. So a page costs the same in any number of users, except where
 * many match each condition, but none among the first of the order.
 */
export async function listUsers(
  db: Knex,
  appId: string,
  condition: UserCondition,
  times: CurrentTimes,
  { sort, after, limit }: Range,
): Promise<ListedRow[]> {
  const { columns, after: isAfter } = ORDERS[sort];
  const order: Clause[] = [{ sql: 'u.app_id = ?', values: [appId] }];
  if (after !== undefined) order.push({ sql: isAfter, values: userPlaces[sort].valuesOf(after) });
  const ends = endClauses(condition, times.clock);
  const others = otherClauses(condition, times);
  // These are ranges of the order's own index.
  if (sort === 'expires_at') order.push(...ends.splice(0));
  if (sort === '-created_at') order.push(...createdRange(condition));
  const select: Select = async (source, clauses, most = limit) => {
    const { sql, values } = all(clauses);
    const query = `select ${COLUMNS} ${source.sql} where ${sql} order by ${columns} limit ?`;
    return (await db.raw<{ rows: ListedRow[] }>(query, [...source.values, ...values, most])).rows;
  };
  if (ends.length + others.length === 0) return select(USERS, order);

  const first = all(order);
  const window = (most: number): Clause => ({
    sql: `from (select * from users u where ${first.sql} order by ${columns} limit ?) u`,
    values: [...first.values, most],
  });
  // Twice as many, because users may be added between the two statements.
  if (await isWhole(db, first, columns)) return select(window(2 * WINDOW), [...ends, ...others]);
  const rows = await select(window(WINDOW), [...ends, ...others]);
  if (rows.length === limit) return rows;
  const range = all([...order, ...ends]);
  const found = await findFew(db, appId, condition, times, ends.length > 0 ? range : undefined);
  if (found) {
    const isOne = { sql: 'u.user_id = any (?::text[])', values: [found as unknown as Knex.RawBinding] };
    return select(USERS, [...order, isOne, ...ends, ...others]);
  }
  if (sort === 'username' && condition.beginning) {
    return listByBeginning(select, appId, condition.beginning, [...order, ...ends, ...others], limit);
  }
  // The table is in no order of names: one range of an index and its sort cost less than a walk over all names.
  if (sort === 'username' && ends.length > 0) return select(apart(range), others);
  if (sort === '-created_at' && others.length === 0) {
    // The index alone has the ids, in case that none of half a million ended subscriptions is of a recent user.
    const ids = `array(select r.user_id from (select u.user_id from users u where ${range.sql} offset 0) r
      order by r.user_id desc limit ?)`;
    return select(USERS, [{ sql: `u.user_id = any (${ids})`, values: [...range.values, limit] }]);
  }
  return select(USERS, [...order, ...ends, ...others]);
}

type Select = (source: Clause, clauses: readonly Clause[], most?: number) => Promise<ListedRow[]>;

const USERS: Clause = { sql: 'from users u', values: [] };

/** Users of one range of an index. A subquery with an offset is planned on its own: their order comes after it. */
const apart = ({ sql, values }: Clause): Clause => ({
  sql: `from (select * from users u where ${sql} offset 0) u`,
  values,
});

/**
 * Users in the order of names. Those whose name has the beginning follow each other in it; there can be users before
 * and after them whose address has it.
 */
async function listByBeginning(
  select: Select,
  appId: string,
  { username, email }: Beginning,
  conditions: readonly Clause[],
  limit: number,
): Promise<ListedRow[]> {
  const named = withUsername(username);
  const [from, below] = named.values;
  const addressed = apart(all([{ sql: 'u.app_id = ?', values: [appId] }, withEmail(email)]));
  const parts: [source: Clause, range: Clause][] = [
    [addressed, { sql: 'u.username_key < ?', values: [from!] }],
    [USERS, named],
    [addressed, { sql: 'u.username_key >= ?', values: [below!] }],
  ];
  const rows: ListedRow[] = [];
  for (const [source, range] of parts) {
    if (rows.length === limit) break;
    rows.push(...(await select(source, [...conditions, range], limit - rows.length)));
  }
  return rows;
}

/** Whether the order has no users after its window. */
async function isWhole(db: Knex, { sql, values }: Clause, columns: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `select from users u where ${sql} order by ${columns} offset ${WINDOW} limit 1`,
    values,
  );
  return rows.length === 0;
}

/** Up to this many matches of one condition are looked up by its index. */
const FEW = 10_000;

/**
 * The users that a condition can match, by the index of one of its members. The planner would instead look at all
 * users in the order of the list, which is fast only if many of them match.
 * @param ends a condition on users that is a range of the index of the ends of subscriptions
 * @returns undefined if each of the members may hold for many
 */
async function findFew(
  db: Knex,
  appId: string,
  condition: UserCondition,
  times: CurrentTimes,
  ends: Clause | undefined,
): Promise<string[] | undefined> {
  const sources = [...sourcesOf(appId, condition, times)];
  if (ends) sources.unshift({ ...ends, sql: `select u.user_id from users u where ${ends.sql}` });
  for (const { sql, values } of sources) {
    const { rows } = await db.raw<{ rows: { user_id: string }[] }>(`${sql} limit ${FEW + 1}`, values);
    if (rows.length <= FEW) return rows.map(({ user_id }) => user_id);
  }
  return undefined;
}

function* sourcesOf(
  appId: string,
  condition: UserCondition,
  { now, clock }: CurrentTimes,
): Generator<Clause> {
  const { beginning, banned, tier, hwidBound } = condition;
  const ofApp: Clause = { sql: 'u.app_id = ?', values: [appId] };
  const idsOf = (clauses: readonly Clause[]): Clause => {
    const { sql, values } = all([ofApp, ...clauses]);
    return { sql: `select u.user_id from users u where ${sql}`, values };
  };
  if (beginning) {
    const parts = [withUsername(beginning.username), withEmail(beginning.email)].map((part) => idsOf([part]));
    yield {
      sql: parts.map(({ sql }) => `select user_id from (${sql} limit ${FEW + 1}) part`).join(' union all '),
      values: parts.flatMap(({ values }) => values),
    };
  }
  const created = createdRange(condition);
  if (created.length > 0) yield idsOf(created);
  if (banned) {
    yield {
      sql: `select user_id from bans where app_id = ? and kind = 'user' and (expires_at is null or expires_at > ?)`,
      values: [appId, now],
    };
  }
  if (tier !== undefined) {
    // Of all applications, because a subscription does not name its own.
    yield {
      sql: 'select user_id from subscriptions where tier = ? and ends_at > ? and starts_at <= ?',
      values: [tier, clock, clock],
    };
  }
  if (hwidBound !== undefined) {
    yield idsOf([{ sql: `u.hwid_digest is ${hwidBound ? 'not ' : ''}null`, values: [] }]);
  }
}

/** Which of some users of an application match a condition. */
export async function findMatching(
  db: Knex,
  condition: UserCondition,
  times: CurrentTimes,
  userIds: readonly string[],
): Promise<string[]> {
  const { sql, values } = all([
    { sql: 'u.user_id = any (?::text[])', values: [userIds as unknown as Knex.RawBinding] },
    ...endClauses(condition, times.clock),
    ...otherClauses(condition, times),
  ]);
  const { rows } = await db.raw<{ rows: { user_id: string }[] }>(
    `select u.user_id from users u where ${sql} order by u.user_id`,
    values,
  );
  return rows.map(({ user_id }) => user_id);
}

/** How many subscriptions end from each of the times to before the next one, on the subscription clock. */
export async function countEnds(db: Knex, appId: string, times: readonly Date[]): Promise<number[]> {
  const texts = times.map((time) => time.toISOString());
  const { rows } = await db.raw<{ rows: { count: number }[] }>(
    `select (
       select count(*)::integer from users u
       where u.app_id = ? and u.subscription_ends_at >= d.since and u.subscription_ends_at < d.until
     ) as count
     from unnest(?::timestamptz[], ?::timestamptz[]) with ordinality as d (since, until, place)
     order by d.place`,
    [appId, texts.slice(0, -1), texts.slice(1)] as unknown as Knex.RawBinding[],
  );
  return rows.map(({ count }) => count);
}

/** A user of any application. */
export async function findListedUser(db: Knex, userId: string): Promise<ListedRow | undefined> {
  const [row] = await db('users as u').where('u.user_id', userId).select<ListedRow[]>(db.raw(COLUMNS));
  return row;
}

/** How many rows there are, counted up to a limit. */
export async function countRows(db: Knex): Promise<BoundedCount> {
  const { rows } = await db.raw<{ rows: BoundedCount[] }>(
    `select (select count(*) from (select from users limit ?) as few)::int as counted,
       (select reltuples from pg_class where oid = 'users'::regclass)::float8 as estimate`,
    [COUNTED_AT_MOST + 1],
  );
  return rows[0]!;
}
