import type { Knex } from 'knex';
import { containing, readByBitmapWithin } from '../../platform/database/time-boxed-read.ts';

/** What a search finds and shows of a user. */
export interface FoundRow {
  readonly user_id: string;
  readonly app_id: string;
  readonly username: string;
  readonly username_key: string;
  readonly email: string | null;
}

const COLUMNS = 'u.user_id, u.app_id, u.username, u.username_key, u.email';

/** The upper bound of all texts with a prefix, compared by code points. */
const LAST = '\u{10FFFF}';

/** The newest users that are looked at, in all applications together. */
const WINDOW = 20_000;
/** Such a read takes a millisecond unless very many names of all tenants contain the part. */
const TIME_MS = 300;

export async function findById(
  db: Knex,
  appIds: readonly string[],
  userId: string,
): Promise<FoundRow | undefined> {
  const [row] = await db('users as u')
    .where('u.user_id', userId)
    .whereRaw('u.app_id = any (?::text[])', [[...appIds]])
    .select<FoundRow[]>(db.raw(COLUMNS));
  return row;
}

/** Users whose name, or whose email address, has a prefix: a part of one index for each application. */
export async function findByPrefix(
  db: Knex,
  appIds: readonly string[],
  { column, prefix }: { readonly column: 'username' | 'email'; readonly prefix: string },
  limit: number,
): Promise<FoundRow[]> {
  const indexed = column === 'username' ? 'u.username_key' : 'lower(u.email) collate "C"';
  const { rows } = await db.raw<{ rows: FoundRow[] }>(
    `select found.* from unnest(:appIds::text[]) a (app_id) cross join lateral (
       select ${COLUMNS} from users u
       where u.app_id = a.app_id ${column === 'email' ? 'and u.email is not null' : ''}
         and ${indexed} >= :prefix and ${indexed} < :last
       order by ${indexed} limit :limit
     ) found limit :limit`,
    { appIds: appIds as string[], prefix, last: prefix + LAST, limit } as Record<string, Knex.RawBinding>,
  );
  return rows;
}

/** Users among the newest ones of each application whose name contains a part. */
export async function findInNewest(
  db: Knex,
  appIds: readonly string[],
  part: string,
  limit: number,
): Promise<FoundRow[]> {
  const { rows } = await db.raw<{ rows: FoundRow[] }>(
    `select ${COLUMNS} from unnest(:appIds::text[]) a (app_id) cross join lateral (
       select * from users n where n.app_id = a.app_id order by n.user_id desc limit :window
     ) u where u.username_key like :pattern limit :limit`,
    {
      appIds: appIds as string[],
      window: Math.ceil(WINDOW / appIds.length),
      pattern: containing(part),
      limit,
    } as Record<string, Knex.RawBinding>,
  );
  return rows;
}

/** Users whose name contains a part of at least three characters. @returns undefined if that took too long */
export async function findByPart(
  knex: Knex,
  appIds: readonly string[],
  part: string,
  limit: number,
): Promise<FoundRow[] | undefined> {
  return readByBitmapWithin(knex, TIME_MS, (trx) =>
    trx('users as u')
      .whereRaw('u.username_key like ?', [containing(part)])
      .whereRaw('u.app_id = any (?::text[])', [[...appIds]])
      .limit(limit)
      .select<FoundRow[]>(trx.raw(COLUMNS)),
  );
}
