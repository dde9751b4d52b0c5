import type { Knex } from 'knex';
import { idRange } from '../../platform/ids.ts';

/** A prefix of the username key, or of the email address in lower case; a user matches if one of them matches. */
export interface Beginning {
  readonly username: string;
  readonly email: string;
}

/** The filter of a list of users; omitted members match all. */
export interface UserCondition {
  /** The beginning of the username key, or of the email address in lower case. */
  readonly beginning?: Beginning | undefined;
  readonly banned?: boolean | undefined;
  /** The tier in force. */
  readonly tier?: string | undefined;
  readonly hwidBound?: boolean | undefined;
  readonly createdSince?: Date | undefined;
  readonly createdUntil?: Date | undefined;
  /** The status of the subscription. */
  readonly subscription?: 'none' | 'active' | 'expired' | undefined;
  /** The subscription ends at or after this time of the subscription clock. */
  readonly endsSince?: Date | undefined;
  /** The subscription ends before this time of the subscription clock. */
  readonly endsUntil?: Date | undefined;
}

/** The current time, and that of the application's subscription clock. */
export interface CurrentTimes {
  readonly now: Date;
  readonly clock: Date;
}

/** A condition, or a query, in SQL with its values. */
export interface Clause {
  readonly sql: string;
  readonly values: readonly Knex.RawBinding[];
}

/** A condition that all of some conditions are. */
export const all = (clauses: readonly Clause[]): Clause => ({
  sql: ['true', ...clauses.map(({ sql }) => sql)].join(' and '),
  values: clauses.flatMap(({ values }) => values),
});

/** Conditions on the end of the subscription, all of which one range of its index satisfies. */
export function endClauses(
  { subscription, endsSince, endsUntil, tier }: UserCondition,
  clock: Date,
): Clause[] {
  const clauses: Clause[] = [];
  const add = (sql: string, ...values: Knex.RawBinding[]) => void clauses.push({ sql, values });
  if (subscription === 'none') add(`u.subscription_ends_at = 'infinity'`);
  // Whose tier is in force has a subscription that has not ended.
  if (subscription === 'active' || tier !== undefined) add('u.subscription_ends_at > ?', clock);
  if (subscription === 'expired') add('u.subscription_ends_at <= ?', clock);
  if (endsSince) add('u.subscription_ends_at >= ?', endsSince);
  if (endsUntil) add('u.subscription_ends_at < ?', endsUntil);
  // Users who have never had a subscription have no end.
  if (subscription === 'active' || endsSince || tier !== undefined)
    add(`u.subscription_ends_at < 'infinity'`);
  return clauses;
}

/** Conditions on everything else than the end of the subscription. */
export function otherClauses(condition: UserCondition, times: CurrentTimes): Clause[] {
  return [...createdRange(condition), ...beginningClause(condition), ...stateClauses(condition, times)];
}

function beginningClause({ beginning }: UserCondition): Clause[] {
  if (!beginning) return [];
  const [username, email] = [withUsername(beginning.username), withEmail(beginning.email)];
  return [{ sql: `(${username.sql} or ${email.sql})`, values: [...username.values, ...email.values] }];
}

/** How much older the time in an id can be than that of its row: the length of the longest import, generously. */
const IMPORTED_WITHIN_MS = 3_600_000;
/** How much newer it can be, because ids of a process do not go back when its clock is set back. */
const SET_BACK_WITHIN_MS = 86_400_000;

/** The range of ids of a range of creation, which an index has. */
export function createdRange({ createdSince, createdUntil }: UserCondition): Clause[] {
  const moved = (time: Date | undefined, by: number) => time && new Date(time.getTime() + by);
  const { from, below } = idRange('usr', {
    since: moved(createdSince, -IMPORTED_WITHIN_MS),
    until: moved(createdUntil, SET_BACK_WITHIN_MS),
  });
  return [
    ...(from === undefined ? [] : [{ sql: 'u.user_id >= ?', values: [from] }]),
    ...(below === undefined ? [] : [{ sql: 'u.user_id < ?', values: [below] }]),
  ];
}

/** The upper bound of all texts with a prefix, compared by code points. */
const LAST = '\u{10FFFF}';

/** From a prefix to before the end of what has it. Nothing has an empty one: it would select everyone. */
const prefixRange = (prefix: string): [string, string] => [prefix, prefix === '' ? '' : prefix + LAST];

/** Whose name has a prefix: a range of the index of names, and of the order of names. */
export const withUsername = (prefix: string): Clause => ({
  sql: '(u.username_key >= ? and u.username_key < ?)',
  values: prefixRange(prefix),
});

/** Whose address has a prefix: a range of the index of addresses. */
export const withEmail = (prefix: string): Clause => ({
  sql: '(u.email is not null and lower(u.email) collate "C" >= ? and lower(u.email) collate "C" < ?)',
  values: prefixRange(prefix),
});

function stateClauses(condition: UserCondition, { now, clock }: CurrentTimes): Clause[] {
  const { banned, tier, hwidBound, createdSince, createdUntil } = condition;
  const clauses: Clause[] = [];
  const add = (sql: string, ...values: Knex.RawBinding[]) => void clauses.push({ sql, values });
  if (banned !== undefined) {
    add(
      `${banned ? '' : 'not '}exists (select from bans b where b.user_id = u.user_id and b.kind = 'user'
        and (b.expires_at is null or b.expires_at > ?))`,
      now,
    );
  }
  if (tier !== undefined) {
    add(
      `exists (select from subscriptions s where s.user_id = u.user_id and s.tier = ?
        and s.starts_at <= ? and s.ends_at > ?)`,
      ...[tier, clock, clock],
    );
  }
  if (hwidBound !== undefined) add(`u.hwid_digest is ${hwidBound ? 'not ' : ''}null`);
  if (createdSince) add('u.created_at >= ?', createdSince);
  if (createdUntil) add('u.created_at < ?', createdUntil);
  return clauses;
}
