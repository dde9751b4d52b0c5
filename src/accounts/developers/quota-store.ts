import type { Knex } from 'knex';
import type { PlanLimits } from '../plans/plan-state.ts';

/** Counts one more application unless the plan's limit is reached. @returns whether it was counted */
export async function takeApplicationSeat(trx: Knex.Transaction, developerId: string): Promise<boolean> {
  const taken = await trx.raw<{ rowCount: number }>(
    `update developers set apps = developers.apps + 1 from plans p
     where developers.developer_id = ? and p.plan_id = developers.plan_id and developers.apps < p.max_apps`,
    [developerId],
  );
  return taken.rowCount === 1;
}

/** How many license keys the plan allows without packs; null means no limit. */
export async function findLicenseLimit(db: Knex, developerId: string): Promise<number | null> {
  const row = await db('developers as d')
    .join('plans as p', 'p.plan_id', 'd.plan_id')
    .where('d.developer_id', developerId)
    .first<{ max_licenses: number | null } | undefined>('p.max_licenses');
  return row?.max_licenses ?? null;
}

/** Counts license keys unless they exceed what plan and packs allow. @returns whether they were counted */
export async function takeLicenses(
  trx: Knex.Transaction,
  developerId: string,
  amount: number,
): Promise<boolean> {
  const taken = await trx.raw<{ rowCount: number }>(
    `update developers d set licenses_generated = d.licenses_generated + :amount
     from plans p where d.developer_id = :developerId and p.plan_id = d.plan_id
       and (p.max_licenses is null or d.licenses_generated + :amount <= p.max_licenses + d.license_packs)`,
    { developerId, amount },
  );
  return taken.rowCount === 1;
}

/** What the plan of a developer allows; undefined when there is no such developer. */
export async function findPlanLimits(db: Knex, developerId: string): Promise<PlanLimits | undefined> {
  return db('developers as d')
    .join('plans as p', 'p.plan_id', 'd.plan_id')
    .where('d.developer_id', developerId)
    .first<PlanLimits | undefined>('p.max_apps as maxApps', 'p.max_users_per_app as maxUsersPerApp');
}
