import type { Knex } from 'knex';
import { fromMinor } from '../money/money.ts';
import { listPlans } from './plan-store.ts';

/** What a developer may have, and what that costs. */
export interface Plan {
  readonly planId: string;
  readonly name: string;
  /** In units of the currency. */
  readonly price: number;
  /** ISO 4217. */
  readonly currency: string;
  readonly period: 'monthly' | 'yearly' | 'lifetime';
  readonly maxApps: number;
  readonly maxUsersPerApp: number;
  readonly features: readonly string[];
}

export interface Plans {
  /** Every plan, the cheapest first. */
  list(): Promise<Plan[]>;
}

export function createPlans(knex: Knex): Plans {
  return {
    async list() {
      const rows = await listPlans(knex);
      return rows.map((row) => ({
        planId: row.plan_id,
        name: row.name,
        price: fromMinor(row.price_minor, row.currency),
        currency: row.currency,
        period: row.period,
        maxApps: row.max_apps,
        maxUsersPerApp: row.max_users_per_app,
        features: row.features,
      }));
    },
  };
}
