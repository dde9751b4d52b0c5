import type { Knex } from 'knex';
import type { DeveloperSessionRow } from './developer-session-row.ts';

/** A session that has an id. */
export type ListedRow = DeveloperSessionRow & {
  readonly developer_session_id: string;
  readonly address: string;
};

export async function insertDeveloperSession(trx: Knex.Transaction, row: DeveloperSessionRow): Promise<void> {
  await trx('developer_sessions').insert(row);
}

/** Valid sessions, newest first; ids sort by time of creation. */
export async function listDeveloperSessions(
  db: Knex,
  developerId: string,
  now: Date,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<ListedRow[]> {
  const query = db('developer_sessions as s')
    .join('developers as d', (on) =>
      on.on('d.developer_id', 's.developer_id').andOn('d.sign_in_generation', 's.sign_in_generation'),
    )
    .where('s.developer_id', developerId)
    .whereNotNull('s.developer_session_id')
    .where('s.expires_at', '>', now)
    .orderBy('s.developer_session_id', 'desc')
    .limit(page.limit)
    .select<ListedRow[]>('s.*');
  return page.before === undefined ? query : query.where('s.developer_session_id', '<', page.before);
}

/**
 * Writes when sessions were last used, unless a newer time is there. Rows that others have locked are skipped: they are
 * ending, or another node writes them.
 * @param uses by the hexadecimal digest of the token
 */
export async function updateLastUses(db: Knex, uses: ReadonlyMap<string, Date>): Promise<void> {
  await db.raw(
    `update developer_sessions s set last_used_at = u.used_at
     from (select s.token_digest, i.used_at
           from unnest(?::text[], ?::timestamptz[]) as i (digest, used_at)
           join developer_sessions s on s.token_digest = decode(i.digest, 'hex')
           where s.last_used_at is null or s.last_used_at < i.used_at
           for no key update of s skip locked) u
     where s.token_digest = u.token_digest`,
    [[...uses.keys()], [...uses.values()]],
  );
}

/** Ends a session. @returns whether the developer had it and it was valid */
export async function deleteSessionById(
  trx: Knex.Transaction,
  developerId: string,
  developerSessionId: string,
  now: Date,
): Promise<boolean> {
  const deleted = await trx('developer_sessions')
    .where({ developer_id: developerId, developer_session_id: developerSessionId })
    .where('expires_at', '>', now)
    .delete();
  return deleted === 1;
}
