import type { Knex } from 'knex';

/**
 * Writes when sessions were last seen. Rows that a login or another node has locked are left for the next time, so that
 * neither waits. No index contains the column, so an update writes none.
 * @param seen by the digest of the session, as PostgreSQL writes bytes
 */
export async function updateLastSeen(db: Knex, seen: ReadonlyMap<string, Date>): Promise<void> {
  await db.raw(
    `with held as (
       select s.session_digest, n.seen_at
       from unnest(?::bytea[], ?::timestamptz[]) as n (session_digest, seen_at)
       join sessions s using (session_digest)
       where s.ended_at is null and (s.last_seen_at is null or s.last_seen_at < n.seen_at)
       for no key update of s skip locked
     )
     update sessions s set last_seen_at = held.seen_at from held where s.session_digest = held.session_digest`,
    [[...seen.keys()], [...seen.values()].map((at) => at.toISOString())] as unknown as Knex.RawBinding[],
  );
}
