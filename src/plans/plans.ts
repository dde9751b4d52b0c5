import type { Knex } from 'knex';
import type { Actor, Audit } from '../audit/audit.ts';
import { ApiError, invalidMember } from '../errors/api-error.ts';
import { fromMinor, isCurrency, toMinor } from '../money/money.ts';
import { alikeNames } from '../names/names.ts';
import { readPage, type Page, type PageRequest } from '../paging/page.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Payments } from '../platform/payments/index.ts';
import { choosePlan, FREE_PLAN, type Period, type PlanKind } from './plan-state.ts';
import * as store from './plan-store.ts';
import type { PlanRow } from './plan-store.ts';

export { FREE_PLAN } from './plan-state.ts';
export type { Period, PlanKind } from './plan-state.ts';
export type { PlanRow } from './plan-store.ts';

/** What a plan is sold for and what it gives, as an administrator sets it. */
export interface PlanTerms {
  readonly name: string;
  /** In units of the currency. */
  readonly price: number;
  readonly maxApps: number;
  readonly maxUsersPerApp: number;
  /** Null is no limit. */
  readonly maxLicenses: number | null;
  readonly features: readonly string[];
}

/** What cannot be changed later: whoever has bought it has bought that. */
export interface NewPlan extends PlanTerms {
  readonly kind: PlanKind;
  /** ISO 4217. */
  readonly currency: string;
  readonly period: Period;
  /** How many licence keys a pack of them adds; null for other kinds. */
  readonly licenses: number | null;
  /** What a pack adds to a reseller's balance, in units of the currency; null for other kinds. */
  readonly balance: number | null;
}

/** What a developer may have, or can buy on top of that, and what it costs. */
export interface Plan extends NewPlan {
  readonly planId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** No longer sold. */
  readonly archived: boolean;
}

export interface Plans {
  /** Every plan that is sold, the cheapest first. */
  list(): Promise<Plan[]>;
  /**
   * The plan of a name, or of an id, for a period.
   * @param db the caller's view of the database
   * @throws ApiError PLAN_NOT_FOUND, with 400, when it is not sold
   */
  forSale(db: Knex, name: string, period: 'monthly' | 'yearly' | undefined): Promise<PlanRow>;
  /** Whatever its state; undefined when there is none. */
  find(db: Knex, planId: string): Promise<PlanRow | undefined>;

  // The administrator's.
  listAll(page: PageRequest): Promise<Page<Plan>>;
  /** @throws ApiError PLAN_NOT_FOUND */
  get(planId: string): Promise<Plan>;
  /** @throws ApiError PLAN_NAME_TAKEN; VALIDATION_FAILED for what contradicts the kind, amounts the currency cannot hold, and prices the processor does not take */
  create(actor: Actor, wanted: NewPlan): Promise<Plan>;
  /** Quotas change at once for everybody who is on it, the price for whoever buys it from now on. @throws ApiError PLAN_NOT_FOUND and those of create */
  update(actor: Actor, planId: string, changes: Partial<PlanTerms>): Promise<Plan>;
  /** Sells it no longer. @throws ApiError PLAN_NOT_FOUND, PLAN_IN_USE for the plan that everybody begins with */
  archive(actor: Actor, planId: string): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Who is asked for what a plan costs. */
  readonly payments: Pick<Payments, 'amountFault'>;
}

export function createPlans({ knex, audit, clock, newId, payments }: Dependencies): Plans {
  const known = (row: PlanRow | undefined): PlanRow => {
    if (!row) throw new ApiError('PLAN_NOT_FOUND', { detail: 'There is no plan with this identifier.' });
    return row;
  };

  function priceOf(price: number, currency: string): number {
    const minor = toMinor(price, currency);
    if (minor === undefined) throw invalidMember('/price', `must be an amount that ${currency} can hold`);
    const fault = payments.amountFault(minor, currency);
    if (fault !== undefined) throw invalidMember('/price', fault);
    return minor;
  }

  /** Plans of one name differ in their periods; a name that looks like another one is taken. */
  async function assertFree(trx: Knex.Transaction, { plan_id, name }: PlanRow): Promise<void> {
    const others = (await store.holdNames(trx)).filter((other) => other.plan_id !== plan_id);
    if (others.some((other) => other.name !== name && alikeNames([other.name, name]).length > 0)) {
      throw new ApiError('PLAN_NAME_TAKEN');
    }
  }

  return {
    list: async () => (await store.listPlans(knex)).map(toPlan),

    async forSale(db, name, period) {
      const found = await store.findPlansForSale(db, name);
      const byId = found.filter(({ plan_id }) => plan_id === name);
      const plan = choosePlan(byId.length > 0 ? byId : found, period);
      if (plan) return plan;
      throw new ApiError('PLAN_NOT_FOUND', { status: 400 });
    },

    find: store.findPlan,

    async listAll(request) {
      // The first plan has a name instead of an id: it is the last one of all.
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
        throw invalidMember('/period', 'must be lifetime for what is bought once');
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
        await audit.record(trx, actor, { action: 'plan.created', target: row.plan_id, data: told(row) });
      });
      return toPlan(row);
    },

    async update(actor, planId, changes) {
      return knex.transaction(async (trx) => {
        const before = known(await store.lockPlan(trx, planId));
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
          throw invalidMember('/price', 'must be 0 for the plan that everybody begins with');
        }
        if (after.name !== before.name) await assertFree(trx, after);
        const { plan_id: _id, created_at: _made, ...columns } = after;
        if (!(await store.updatePlan(trx, planId, columns))) throw new ApiError('PLAN_NAME_TAKEN');
        await audit.record(trx, actor, { action: 'plan.updated', target: planId, data: told(after) });
        return toPlan(after);
      });
    },

    async archive(actor, planId) {
      if (planId === FREE_PLAN) throw new ApiError('PLAN_IN_USE');
      await knex.transaction(async (trx) => {
        const before = known(await store.lockPlan(trx, planId));
        if (before.archived_at) return;
        const now = clock.now();
        await store.updatePlan(trx, planId, { archived_at: now, updated_at: now });
        await audit.record(trx, actor, { action: 'plan.archived', target: planId });
      });
    },
  };
}

/** What a pack adds. @throws ApiError VALIDATION_FAILED when it is not said, or said of another kind */
function unitsOf({ kind, licenses, balance, currency }: NewPlan): number | null {
  if (licenses !== null && kind !== 'license_quota') {
    throw invalidMember('/licenses', 'is for kind license_quota alone');
  }
  if (balance !== null && kind !== 'reseller_balance') {
    throw invalidMember('/balance', 'is for kind reseller_balance alone');
  }
  if (kind === 'subscription') return null;
  const units = kind === 'license_quota' ? licenses : balance === null ? null : toMinor(balance, currency);
  if (units) return units;
  throw kind === 'license_quota'
    ? invalidMember('/licenses', 'must say how many licence keys the pack adds')
    : invalidMember('/balance', `must be an amount above 0 that ${currency} can hold`);
}

function told({
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

/** A row as the domain shows it. */
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
