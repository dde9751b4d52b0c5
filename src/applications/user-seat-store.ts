import type { Knex } from 'knex';

/** Counts so many users more unless the developer's plan has no room for all of them. @returns whether it had */
export async function takeUserSeats(trx: Knex.Transaction, appId: string, amount: number): Promise<boolean> {
  const taken = await trx.raw<{ rowCount: number }>(
    `update application_usage set users = application_usage.users + :amount
     from applications a join developers d using (developer_id) join plans p using (plan_id)
     where application_usage.app_id = :appId and a.app_id = application_usage.app_id
       and application_usage.users + :amount <= p.max_users_per_app`,
    { appId, amount },
  );
  return taken.rowCount === 1;
}

/** Counts one user less. */
export async function returnUserSeat(trx: Knex.Transaction, appId: string): Promise<void> {
  await trx('application_usage').where({ app_id: appId }).decrement('users', 1);
}
