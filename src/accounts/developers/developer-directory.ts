import type { Knex } from 'knex';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import { toCount, type Count } from '../../platform/database/bounded-count.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Plans } from '../plans/plans.ts';
import * as store from './developer-directory-store.ts';
import * as suspensions from './suspension-store.ts';

/** A developer as the administrator sees them. */
export interface ListedDeveloper {
  readonly developerId: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string | null;
  /** Null for an active account. */
  readonly suspendedAt: Date | null;
  readonly suspensionReason: string | null;
  readonly plan: { readonly id: string; readonly name: string };
  readonly apps: number;
  readonly createdAt: Date;
}

export interface DeveloperFilter extends Omit<store.DeveloperCondition, 'beginning'> {
  /** The beginning of the email address or of the name, ignoring case. */
  readonly q?: string | undefined;
}

/** What the administrator does with developers. */
export interface DeveloperDirectory {
  /** All matching developers, newest first. */
  list(filter: DeveloperFilter, page: PageRequest): Promise<Page<ListedDeveloper>>;
  /** How many developers there are; an estimate above 10,000. */
  count(): Promise<Count>;
  /** @throws ApiError DEVELOPER_NOT_FOUND */
  find(developerId: string): Promise<ListedDeveloper>;
  /**
   * Suspends a developer, or changes the reason of a suspension, inside the caller's transaction: their credentials
   * are refused once it has committed.
   * @returns the state before
   */
  suspend(trx: Knex.Transaction, developerId: string, reason: string | null): Promise<Suspension>;
  /** Ends a suspension, inside the caller's transaction. @returns the state before */
  reinstate(trx: Knex.Transaction, developerId: string): Promise<Suspension>;
}

export interface Suspension {
  readonly suspended: boolean;
  readonly reason: string | null;
}

interface Dependencies {
  readonly knex: Knex;
  readonly plans: Pick<Plans, 'find'>;
  readonly clock: Clock;
}

export function createDeveloperDirectory({ knex, plans, clock }: Dependencies): DeveloperDirectory {
  /** The names of the plans of some developers. */
  async function planNames(rows: readonly store.ListedDeveloperRow[]): Promise<ReadonlyMap<string, string>> {
    const planIds = [...new Set(rows.map(({ plan_id }) => plan_id))];
    const found = await Promise.all(planIds.map((planId) => plans.find(knex, planId)));
    return new Map(found.flatMap((plan) => (plan ? [[plan.plan_id, plan.name]] : [])));
  }

  async function toDevelopers(rows: readonly store.ListedDeveloperRow[]): Promise<ListedDeveloper[]> {
    const names = await planNames(rows);
    return rows.map((row) => ({
      developerId: row.developer_id,
      email: row.email,
      emailVerified: row.email_verified_at !== null,
      name: row.name,
      suspendedAt: row.suspended_at,
      suspensionReason: row.suspension_reason,
      plan: { id: row.plan_id, name: names.get(row.plan_id) ?? row.plan_id },
      apps: row.apps,
      createdAt: row.created_at,
    }));
  }

  async function lockForUpdate(trx: Knex.Transaction, developerId: string): Promise<Suspension> {
    const row = await suspensions.lockSuspensionForUpdate(trx, developerId);
    if (!row) throw new ApiError('DEVELOPER_NOT_FOUND');
    return { suspended: row.suspended_at !== null, reason: row.suspension_reason };
  }

  return {
    async list({ q, ...filter }, request) {
      const page = await readPage(
        request,
        'dev',
        (row: store.ListedDeveloperRow) => row.developer_id,
        (range) => store.listDevelopers(knex, { ...filter, beginning: q?.toLowerCase() }, range),
      );
      return { data: await toDevelopers(page.data), nextCursor: page.nextCursor };
    },

    count: async () => toCount(await store.countRows(knex)),

    async find(developerId) {
      const row = await store.findListedDeveloper(knex, developerId);
      if (!row) throw new ApiError('DEVELOPER_NOT_FOUND');
      const [developer] = await toDevelopers([row]);
      return developer!;
    },

    async suspend(trx, developerId, reason) {
      const before = await lockForUpdate(trx, developerId);
      await suspensions.updateSuspension(trx, developerId, { at: clock.now(), reason });
      return before;
    },

    async reinstate(trx, developerId) {
      const before = await lockForUpdate(trx, developerId);
      await suspensions.updateSuspension(trx, developerId, null);
      return before;
    },
  };
}
