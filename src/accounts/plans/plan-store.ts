import type { Knex } from 'knex';
import { isUniqueViolation } from '../../platform/database/errors.ts';
import type { Period, PlanKind } from './plan-state.ts';

export interface PlanRow {
  readonly plan_id: string;
  readonly name: string;
  readonly kind: PlanKind;
  readonly price_minor: number;
  readonly currency: string;
  readonly period: Period;
  readonly max_apps: number;
  readonly max_users_per_app: number;
  /** Null means no limit. */
  readonly max_licenses: number | null;
  /** What a pack adds: license keys, or minor units of a currency; null for a subscription. */
  readonly units: number | null;
  readonly features: string[];
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly archived_at: Date | null;
}

/** Plans for sale, the cheapest first. */
export async function listPlans(db: Knex): Promise<PlanRow[]> {
  return db<PlanRow>('plans').whereNull('archived_at').orderBy(['price_minor', 'plan_id']);
}

/**
 * Locks the table against other writers until the transaction ends, and lists the names of plans for sale.
 */
export async function lockPlansAndListNames(
  trx: Knex.Transaction,
): Promise<{ readonly plan_id: string; readonly name: string }[]> {
  await trx.raw('lock table plans in share row exclusive mode');
  return trx<PlanRow>('plans').whereNull('archived_at').select('plan_id', 'name');
}

/** All plans, the newest first. */
export async function listAllPlans(
  db: Knex,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<PlanRow[]> {
  const query = db<PlanRow>('plans').orderBy('plan_id', 'desc').limit(page.limit);
  return page.before === undefined ? query : query.where('plan_id', '<', page.before);
}

export async function findPlan(db: Knex, planId: string): Promise<PlanRow | undefined> {
  return db<PlanRow>('plans').where({ plan_id: planId }).first();
}

/** Plans for sale that have a name, or the one with an id. */
export async function findPlansForSale(db: Knex, name: string): Promise<PlanRow[]> {
  return db<PlanRow>('plans')
    .whereNull('archived_at')
    .where((either) => void either.where({ name }).orWhere({ plan_id: name }))
    .orderBy('plan_id');
}

export async function lockPlanForUpdate(trx: Knex.Transaction, planId: string): Promise<PlanRow | undefined> {
  return trx<PlanRow>('plans').where({ plan_id: planId }).forNoKeyUpdate().first();
}

/** @returns false when a plan with this name and period is already for sale */
export async function insertPlan(trx: Knex.Transaction, row: PlanRow): Promise<boolean> {
  return unlessNameTaken(async () => {
    await trx('plans').insert(row);
  });
}

/** @returns false in the same case as insertPlan */
export async function updatePlan(
  trx: Knex.Transaction,
  planId: string,
  changes: Partial<PlanRow>,
): Promise<boolean> {
  return unlessNameTaken(async () => {
    await trx('plans').where({ plan_id: planId }).update(changes);
  });
}

async function unlessNameTaken(write: () => Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (isUniqueViolation(error, 'plans_name')) return false;
    throw error;
  }
}
