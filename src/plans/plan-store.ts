import type { Knex } from 'knex';
import { isUniqueViolation } from '../platform/database/errors.ts';
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
  /** Null is no limit. */
  readonly max_licenses: number | null;
  /** What a pack adds: licences, or minor units; null for a subscription. */
  readonly units: number | null;
  readonly features: string[];
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly archived_at: Date | null;
}

/** Those that are sold, the cheapest first. */
export async function listPlans(db: Knex): Promise<PlanRow[]> {
  return db<PlanRow>('plans').whereNull('archived_at').orderBy(['price_minor', 'plan_id']);
}

/** The names of plans that are sold. No plan is written by others until the transaction ends. */
export async function holdNames(
  trx: Knex.Transaction,
): Promise<{ readonly plan_id: string; readonly name: string }[]> {
  await trx.raw('lock table plans in share row exclusive mode');
  return trx<PlanRow>('plans').whereNull('archived_at').select('plan_id', 'name');
}

/** All of them, the newest first. */
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

/** Those of a name, or the one of an id, that are sold. */
export async function findPlansForSale(db: Knex, name: string): Promise<PlanRow[]> {
  return db<PlanRow>('plans')
    .whereNull('archived_at')
    .where((either) => void either.where({ name }).orWhere({ plan_id: name }))
    .orderBy('plan_id');
}

export async function lockPlan(trx: Knex.Transaction, planId: string): Promise<PlanRow | undefined> {
  return trx<PlanRow>('plans').where({ plan_id: planId }).forNoKeyUpdate().first();
}

/** @returns false when a plan of this name and period is sold already */
export async function insertPlan(trx: Knex.Transaction, row: PlanRow): Promise<boolean> {
  return unlessTaken(async () => {
    await trx('plans').insert(row);
  });
}

/** @returns false as insertPlan does */
export async function updatePlan(
  trx: Knex.Transaction,
  planId: string,
  changes: Partial<PlanRow>,
): Promise<boolean> {
  return unlessTaken(async () => {
    await trx('plans').where({ plan_id: planId }).update(changes);
  });
}

async function unlessTaken(write: () => Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (isUniqueViolation(error, 'plans_name')) return false;
    throw error;
  }
}
