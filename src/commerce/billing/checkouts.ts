import type { Knex } from 'knex';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import type { PlanSubscriptions } from './plan-subscriptions.ts';
import type { Developers } from '../../accounts/developers/developers.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import { fromMinor } from '../../foundation/money/money.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { PaymentProcessor } from '../../platform/payments/index.ts';
import type { PlanRow, Plans } from '../../accounts/plans/plans.ts';
import type { Resellers } from '../resellers/resellers.ts';
import { toProduct } from './product.ts';
import { assertPayable, callProcessor } from './processor-errors.ts';
import * as store from './checkout-store.ts';
import type { CheckoutRow, CheckoutStatus } from './checkout-store.ts';

export type { CheckoutStatus } from './checkout-store.ts';

/** How long a payment page is open. */
const OPEN_MS = 60 * 60 * 1000;

export interface NewCheckout {
  /** The name or the id of a plan. */
  readonly planName: string;
  readonly period: 'monthly' | 'yearly' | undefined;
  /** The reseller that a pack of balance is for; optional for a developer with a single reseller. */
  readonly resellerId: string | undefined;
  /** Where the payer goes afterwards; by default a page of this service. */
  readonly successUrl: string | undefined;
  readonly cancelUrl: string | undefined;
}

/** A purchase. */
export interface Checkout {
  readonly checkoutId: string;
  readonly planId: string;
  readonly resellerId: string | null;
  /** The payment page. */
  readonly url: string;
  readonly status: CheckoutStatus;
  /** In units of the currency. */
  readonly amount: number;
  readonly currency: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly paidAt: Date | null;
}

export interface Checkouts {
  /**
   * Opens a payment page for a plan or a pack. The purchase is granted when the processor's signed event says
   * that it is paid.
   * @throws ApiError PLAN_NOT_FOUND, PLAN_NOT_APPLICABLE, RESELLER_NOT_FOUND; VALIDATION_FAILED for invalid
   *   URLs; SERVICE_UNAVAILABLE while the processor cannot be reached
   */
  create(actor: Actor, wanted: NewCheckout): Promise<Checkout>;
  /** @throws ApiError CHECKOUT_NOT_FOUND, also for a checkout of another developer */
  get(developerId: string, checkoutId: string): Promise<Checkout>;
  /** What the page that a payer returns to may show; undefined for an unknown checkout. */
  stateOf(
    checkoutId: string,
  ): Promise<{ readonly planName: string; readonly status: CheckoutStatus } | undefined>;
  /**
   * Has the processor delete a batch of its records here of purchases that were never paid.
   * @returns how many
   */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly plans: Plans;
  readonly planSubscriptions: Pick<PlanSubscriptions, 'inForce'>;
  readonly developers: Pick<Developers, 'account'>;
  readonly resellers: Pick<Resellers, 'get' | 'list'>;
  readonly payments: PaymentProcessor;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly webUrl: () => string;
}

export function createCheckouts(deps: Dependencies): Checkouts {
  const { knex, plans, planSubscriptions, developers, resellers, payments, audit, clock, newId, webUrl } =
    deps;

  /** Refuses a plan that would give the developer nothing they do not already have. */
  async function assertApplicable(developerId: string, plan: PlanRow): Promise<void> {
    const refuse = (detail: string) => new ApiError('PLAN_NOT_APPLICABLE', { detail });
    if (plan.price_minor === 0) throw refuse('The plan costs nothing.');
    assertPayable(payments, plan);
    if (plan.kind === 'license_quota') {
      const { licenses } = await developers.account(developerId);
      if (licenses === null) throw refuse('Your plan does not limit license keys.');
    }
    if (plan.kind !== 'subscription') return;
    const inForce = await planSubscriptions.inForce(knex, developerId);
    if (!inForce) return;
    // A subscription of another processor cannot be changed anymore.
    const runs = inForce.subscription_ref !== null && inForce.processor === payments.processor;
    if (runs && plan.period !== 'lifetime') {
      throw refuse('You already have a subscription. Change its plan with PATCH /api/v2/dev/subscription.');
    }
    if (inForce.subscription_ref === null && inForce.plan_id === plan.plan_id) {
      throw refuse('You already have this plan forever.');
    }
  }

  /** The reseller that a pack of balance is for. */
  async function recipient(
    developerId: string,
    plan: PlanRow,
    resellerId: string | undefined,
  ): Promise<string | null> {
    if (plan.kind !== 'reseller_balance') {
      if (resellerId === undefined) return null;
      throw invalidMember('/reseller_id', 'is only for packs of reseller balance');
    }
    const { data } = await resellers.list(developerId, { limit: 2, cursor: undefined });
    const reseller =
      resellerId === undefined && data.length === 1
        ? data[0]!
        : resellerId && (await resellers.get(developerId, resellerId));
    if (!reseller) throw invalidMember('/reseller_id', 'must be the reseller that the balance is for');
    if (reseller.currency === plan.currency) return reseller.resellerId;
    throw new ApiError('PLAN_NOT_APPLICABLE', {
      detail: `The reseller's balance is in ${reseller.currency}, and the plan is in ${plan.currency}.`,
    });
  }

  return {
    async create(actor, { planName, period, resellerId, successUrl, cancelUrl }) {
      const { developerId } = actor;
      const addresses = {
        successUrl: address('/success_url', successUrl),
        cancelUrl: address('/cancel_url', cancelUrl),
      };
      const plan = await plans.findForSale(knex, planName, period);
      await assertApplicable(developerId, plan);
      const reseller_id = await recipient(developerId, plan, resellerId);
      const { email, customerRef } = await developers.account(developerId);
      const now = clock.now();
      const row: CheckoutRow = {
        checkout_id: newId('chk'),
        developer_id: developerId,
        plan_id: plan.plan_id,
        reseller_id,
        processor: payments.processor,
        session_ref: null,
        url: null,
        status: 'open',
        amount_minor: plan.price_minor,
        currency: plan.currency,
        units: plan.units,
        created_at: now,
        expires_at: new Date(now.getTime() + OPEN_MS),
        paid_at: null,
        looked_up_at: now,
      };
      // Before the page exists, so that every event about it finds its checkout.
      await knex.transaction(async (trx) => {
        await store.insertCheckout(trx, row);
        const data = {
          plan_id: plan.plan_id,
          amount_minor: row.amount_minor,
          currency: row.currency,
          reseller_id,
        };
        await audit.record(trx, actor, { action: 'checkout.created', target: row.checkout_id, data });
      });
      const ownPage = `${webUrl()}/checkout/${row.checkout_id}`;
      const opened = await callProcessor(() =>
        payments.openCheckout({
          reference: row.checkout_id,
          product: toProduct(plan),
          customer: { reference: developerId, email, customerRef },
          successUrl: addresses.successUrl ?? ownPage,
          cancelUrl: addresses.cancelUrl ?? ownPage,
          expiresAt: row.expires_at,
        }),
      );
      const { sessionRef: session_ref, url } = opened;
      await store.updateCheckout(knex, row.checkout_id, { session_ref, url });
      return toCheckout({ ...row, session_ref, url });
    },

    async get(developerId, checkoutId) {
      const row = await store.findCheckout(knex, checkoutId);
      if (row?.developer_id !== developerId || row.url === null) throw new ApiError('CHECKOUT_NOT_FOUND');
      return toCheckout(row);
    },

    async stateOf(checkoutId) {
      const row = await store.findCheckout(knex, checkoutId);
      if (!row) return undefined;
      const plan = await plans.find(knex, row.plan_id);
      return { planName: plan!.name, status: row.status };
    },

    clearExpired: payments.clearExpired,
  };
}

function address(pointer: string, url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  const parsed = URL.parse(url);
  if (parsed && ['http:', 'https:'].includes(parsed.protocol) && !parsed.username && !parsed.password) {
    return parsed.href;
  }
  throw invalidMember(pointer, 'must be an http or https URL without credentials');
}

function toCheckout(row: CheckoutRow): Checkout {
  return {
    checkoutId: row.checkout_id,
    planId: row.plan_id,
    resellerId: row.reseller_id,
    url: row.url!,
    status: row.status,
    amount: fromMinor(row.amount_minor, row.currency),
    currency: row.currency,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    paidAt: row.paid_at,
  };
}
