import type { Knex } from 'knex';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import { fromMinor, isCurrency, toMinor } from '../../foundation/money/money.ts';
import { findLookalikes } from '../../foundation/names/names.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { PaymentProcessor } from '../../platform/payments/index.ts';
import { choosePlan, FREE_PLAN, type Period, type PlanKind } from './plan-state.ts';
import * as store from './plan-store.ts';
import type { PlanRow } from './plan-store.ts';

export { FREE_PLAN } from './plan-state.ts';
export type { Period, PlanKind } from './plan-state.ts';
export type { PlanRow } from './plan-store.ts';

/** The price of a plan and what it includes, as an administrator sets them. */
export interface PlanTerms {
  readonly name: string;
  /** In units of the currency, such as dollars. */
  readonly price: number;
  readonly maxApps: number;
  readonly maxUsersPerApp: number;
  /** Null means no limit. */
  readonly maxLicenses: number | null;
  readonly features: readonly string[];
}

/** Also what cannot change later, because customers have bought it. */
export interface NewPlan extends PlanTerms {
  readonly kind: PlanKind;
  /** ISO 4217. */
  readonly currency: string;
  readonly period: Period;
  /** How many license keys a pack adds; null for other kinds. */
  readonly licenses: number | null;
  /** What a pack adds to a reseller's balance, in units of the currency; null for other kinds. */
  readonly balance: number | null;
}

/** What a developer gets, or can buy in addition, and what it costs. */
export interface Plan extends NewPlan {
  readonly planId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** No longer for sale. */
  readonly archived: boolean;
}

export interface Plans {
  /** Every plan for sale, the cheapest first. */
  list(): Promise<Plan[]>;
  /**
   * Finds a plan for sale by its name or id, and by its period.
   * @param db the caller's transaction or connection
   * @throws ApiError PLAN_NOT_FOUND, with 400, when it is not for sale
   */
  findForSale(db: Knex, name: string, period: 'monthly' | 'yearly' | undefined): Promise<PlanRow>;
  /** Finds a plan, archived or not; undefined when it does not exist. */
  find(db: Knex, planId: string): Promise<PlanRow | undefined>;

  // For administrators.
  listAll(page: PageRequest): Promise<Page<Plan>>;
  /** @throws ApiError PLAN_NOT_FOUND */
  get(planId: string): Promise<Plan>;
  /**
   * @throws ApiError PLAN_NAME_TAKEN; VALIDATION_FAILED for members that contradict the kind, amounts that
   *   the currency cannot represent, and prices that the payment processor does not accept
   */
  create(actor: Actor, wanted: NewPlan): Promise<Plan>;
  /**
   * Quotas change immediately for every developer on the plan, the price for later purchases only.
   * @throws ApiError PLAN_NOT_FOUND and those of create
   */
  update(actor: Actor, planId: string, changes: Partial<PlanTerms>): Promise<Plan>;
  /**
   * Takes a plan off sale.
   * @throws ApiError PLAN_NOT_FOUND, PLAN_IN_USE for the plan that every developer starts with
   */
  archive(actor: Actor, planId: string): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Charges for plans, and limits their prices. */
  readonly payments: Pick<PaymentProcessor, 'amountFault'>;
}

export function createPlans({ knex, audit, clock, newId, payments }: Dependencies): Plans {
  const known = (row: PlanRow | undefined): PlanRow => {
    if (!row) throw new ApiError('PLAN_NOT_FOUND', { detail: 'There is no plan with this ID.' });
    return row;
  };

  function priceOf(price: number, currency: string): number {
    const minor = toMinor(price, currency);
    if (minor === undefined)
      throw invalidMember('/price', `must be an amount that ${currency} can represent`);
    const fault = payments.amountFault(minor, currency);
    if (fault !== undefined) throw invalidMember('/price', fault);
    return minor;
  }

  /**
   * Plans may share a name if their periods differ, but a name that only looks like another one counts as
   * taken.
   */
  async function assertFree(trx: Knex.Transaction, { plan_id, name }: PlanRow): Promise<void> {
    const others = (await store.lockPlansAndListNames(trx)).filter((other) => other.plan_id !== plan_id);
    if (others.some((other) => other.name !== name && findLookalikes([other.name, name]).length > 0)) {
      throw new ApiError('PLAN_NAME_TAKEN');
    }
  }

  return {
    list: async () => (await store.listPlans(knex)).map(toPlan),

    async findForSale(db, name, period) {
      const found = await store.findPlansForSale(db, name);
      const byId = found.filter(({ plan_id }) => plan_id === name);
      const plan = choosePlan(byId.length > 0 ? byId : found, period);
      if (plan) return plan;
      throw new ApiError('PLAN_NOT_FOUND', { status: 400 });
    },

    find: store.findPlan,

    async listAll(request) {
      // The free plan's id is a plain name, which sorts after all others.
      const page = await readPage(
        request,
        'plan',
        (row: PlanRow) => row.plan_id,
        (range) => store.listAllPlans(knex, range),
      );
      return { data: page.data.map(toPlan), nextCursor: page.nextCursor };
    },

    get: async (planId) => toPlan(known(await store.findPlan(knex, planId))),

    async create(actor, wanted) {
      const now = clock.now();
      const { kind, period, currency } = wanted;
      if (!isCurrency(currency)) throw invalidMember('/currency', 'must be a currency of ISO 4217');
      if (kind !== 'subscription' && period !== 'lifetime') {
        throw invalidMember('/period', 'must be lifetime for a plan that is bought once');
      }
      const row: PlanRow = {
        plan_id: newId('plan'),
        kind,
        period,
        currency,
        units: unitsOf(wanted),
        name: wanted.name,
        price_minor: priceOf(wanted.price, currency),
        max_apps: wanted.maxApps,
        max_users_per_app: wanted.maxUsersPerApp,
        max_licenses: wanted.maxLicenses,
        features: [...wanted.features],
        created_at: now,
        updated_at: now,
        archived_at: null,
      };
      await knex.transaction(async (trx) => {
        await assertFree(trx, row);
        if (!(await store.insertPlan(trx, row))) throw new ApiError('PLAN_NAME_TAKEN');
        await audit.record(trx, actor, {
          action: 'plan.created',
          target: row.plan_id,
          data: auditDataOf(row),
        });
      });
      return toPlan(row);
    },

    async update(actor, planId, changes) {
      return knex.transaction(async (trx) => {
        const before = known(await store.lockPlanForUpdate(trx, planId));
        const { price, name, maxApps, maxUsersPerApp, maxLicenses, features } = changes;
        const after: PlanRow = {
          ...before,
          name: name ?? before.name,
          price_minor: price === undefined ? before.price_minor : priceOf(price, before.currency),
          max_apps: maxApps ?? before.max_apps,
          max_users_per_app: maxUsersPerApp ?? before.max_users_per_app,
          max_licenses: maxLicenses === undefined ? before.max_licenses : maxLicenses,
          features: features ? [...features] : before.features,
          updated_at: clock.now(),
        };
        if (Object.values(changes).every((value) => value === undefined)) return toPlan(before);
        if (planId === FREE_PLAN && after.price_minor > 0) {
          throw invalidMember('/price', 'must be 0 for the plan that every developer starts with');
        }
        if (after.name !== before.name) await assertFree(trx, after);
        const { plan_id: _id, created_at: _made, ...columns } = after;
        if (!(await store.updatePlan(trx, planId, columns))) throw new ApiError('PLAN_NAME_TAKEN');
        await audit.record(trx, actor, { action: 'plan.updated', target: planId, data: auditDataOf(after) });
        return toPlan(after);
      });
    },

    async archive(actor, planId) {
      if (planId === FREE_PLAN) throw new ApiError('PLAN_IN_USE');
      await knex.transaction(async (trx) => {
        const before = known(await store.lockPlanForUpdate(trx, planId));
        if (before.archived_at) return;
        const now = clock.now();
        await store.updatePlan(trx, planId, { archived_at: now, updated_at: now });
        await audit.record(trx, actor, { action: 'plan.archived', target: planId });
      });
    },
  };
}

/** What a pack adds. @throws ApiError VALIDATION_FAILED when a pack does not say it, or another kind does */
function unitsOf({ kind, licenses, balance, currency }: NewPlan): number | null {
  if (licenses !== null && kind !== 'license_quota') {
    throw invalidMember('/licenses', 'is only valid for kind license_quota');
  }
  if (balance !== null && kind !== 'reseller_balance') {
    throw invalidMember('/balance', 'is only valid for kind reseller_balance');
  }
  if (kind === 'subscription') return null;
  const units = kind === 'license_quota' ? licenses : balance === null ? null : toMinor(balance, currency);
  if (units) return units;
  throw kind === 'license_quota'
    ? invalidMember('/licenses', 'must be the number of license keys that the pack adds')
    : invalidMember('/balance', `must be an amount above 0 that ${currency} can represent`);
}

function auditDataOf({
  name,
  kind,
  price_minor,
  currency,
  period,
  max_apps,
  max_users_per_app,
  max_licenses,
  units,
}: PlanRow) {
  return { name, kind, price_minor, currency, period, max_apps, max_users_per_app, max_licenses, units };
}

/** Converts a row. */
export function toPlan(row: PlanRow): Plan {
  const { kind, currency, units } = row;
  return {
    planId: row.plan_id,
    name: row.name,
    kind,
    price: fromMinor(row.price_minor, currency),
    currency,
    period: row.period,
    maxApps: row.max_apps,
    maxUsersPerApp: row.max_users_per_app,
    maxLicenses: row.max_licenses,
    licenses: kind === 'license_quota' ? units : null,
    balance: kind === 'reseller_balance' && units !== null ? fromMinor(units, currency) : null,
    features: row.features,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archived: row.archived_at !== null,
  };
}
