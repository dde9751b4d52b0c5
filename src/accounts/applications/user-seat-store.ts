import type { Knex } from 'knex';

/** The number of registered users. */
export async function countUsers(db: Knex, appId: string): Promise<number> {
  const row = await db<{ app_id: string; users: number }>('application_usage')
    .where({ app_id: appId })
    .first();
  return row?.users ?? 0;
}

/** Counts one more user unless the plan's limit is reached. @returns whether the user was counted */
export async function takeUserSeat(trx: Knex.Transaction, appId: string): Promise<boolean> {
  const taken = await trx.raw<{ rowCount: number }>(
    `update application_usage set users = application_usage.users + 1
     from applications a join developers d using (developer_id) join plans p using (plan_id)
     where application_usage.app_id = ? and a.app_id = application_usage.app_id
       and application_usage.users < p.max_users_per_app`,
    [appId],
  );
  return taken.rowCount === 1;
}

/** Counts several users unless they exceed the plan's limit. @returns whether they were counted */
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

/** Counts users less. */
export async function returnUserSeats(trx: Knex.Transaction, appId: string, amount: number): Promise<void> {
  await trx('application_usage').where({ app_id: appId }).decrement('users', amount);
}
