import type { Knex } from 'knex';

/** A user who has redeemed a reseller's licence, with the timeline of subscriptions and the application's pause. */
export interface CustomerRow {
  readonly user_id: string;
  readonly username: string;
  readonly app_id: string;
  readonly paused_at: Date | null;
  readonly paused_total_ms: number;
  /** Tiers beside their ends. */
  readonly tiers: string[];
  readonly ends: Date[];
}

/** The next user behind another one who has redeemed a licence of a reseller: found by the index, however many there are. */
const NEXT = `select l.redeemed_by from licenses l join applications a on a.app_id = l.app_id
  where l.reseller_id = ? and l.redeemed_by is not null and a.deleted_at is null`;

/**
 * Newest first; ids sort by time of registration. Users of deleted applications are left out. It steps from user to user,
 * because sorting out all the users of a large reseller takes longer than a statement may.
 */
export async function listCustomers(
  db: Knex,
  resellerId: string,
  { before, limit }: { readonly before: string | undefined; readonly limit: number },
): Promise<CustomerRow[]> {
  // No id is above it.
  const from = before ?? '~';
  const { rows } = await db.raw<{ rows: CustomerRow[] }>(
    `with recursive found (user_id, place) as (
       (select redeemed_by, 1 from (${NEXT} and l.redeemed_by < ? order by l.redeemed_by desc limit 1) as first)
       union all
       (select following.redeemed_by, found.place + 1 from found, lateral (
          ${NEXT} and l.redeemed_by < found.user_id order by l.redeemed_by desc limit 1) as following
        where found.place < ?)
     )
     select u.user_id, u.username, u.app_id, a.paused_at, a.paused_total_ms,
       array(select tier from subscriptions s where s.user_id = u.user_id order by ends_at, tier) as tiers,
       array(select ends_at from subscriptions s where s.user_id = u.user_id order by ends_at, tier) as ends
     from found join users u on u.user_id = found.user_id join applications a on a.app_id = u.app_id
     order by u.user_id desc`,
    [resellerId, from, resellerId, limit],
  );
  return rows;
}

/** The application of a user who has redeemed a reseller's licence; undefined when he has not, or it was deleted. */
export async function findCustomer(
  db: Knex,
  resellerId: string,
  userId: string,
): Promise<string | undefined> {
  const row = await db('users as u')
    .join('applications as a', 'a.app_id', 'u.app_id')
    .where('u.user_id', userId)
    .whereNull('a.deleted_at')
    .whereExists(
      db('licenses').where({ reseller_id: resellerId }).where('redeemed_by', userId).select(db.raw('1')),
    )
    .first<{ app_id: string } | undefined>('u.app_id');
  return row?.app_id;
}
