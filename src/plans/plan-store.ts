import type { Knex } from 'knex';

export interface PlanRow {
  readonly plan_id: string;
  readonly name: string;
  readonly price_minor: number;
  readonly currency: string;
  readonly period: 'monthly' | 'yearly' | 'lifetime';
  readonly max_apps: number;
  readonly max_users_per_app: number;
  readonly features: string[];
}

/** The cheapest first. */
export async function listPlans(db: Knex): Promise<PlanRow[]> {
  return db<PlanRow>('plans').orderBy(['price_minor', 'plan_id']);
}
