import type { Knex } from 'knex';
import type { Applications } from '../../../accounts/applications/applications.ts';
import type { Actor, Audit } from '../../../foundation/audit/audit.ts';
import type { Developers } from '../../../accounts/developers/developers.ts';
import { graceEnd } from '../../../accounts/plans/plan-state.ts';
import { FREE_PLAN, type Plans } from '../../../accounts/plans/plans.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { ResellerPayments } from '../../resellers/resellers.ts';
import { isReversed, unitsDue } from '../billing-state.ts';
import type { CheckoutRow } from '../checkout-store.ts';
import * as invoiceStore from '../invoice-store.ts';
import type { InvoiceRow } from '../invoice-store.ts';
import { insertQuotaEntry } from '../quota-store.ts';
import * as store from '../subscription-store.ts';

/**
 * What developers are entitled to by their payments. It is always computed from all known facts, so that the order and
 * the number of the events make no difference. The caller's transaction holds the lock of settlements.
 */
export interface Entitlements {
  /**
   * Grants what is due for a paid invoice, and takes back what is no longer due. `settlePlan` comes
   * afterwards.
   */
  settleInvoice(
    trx: Knex.Transaction,
    actor: Actor,
    checkout: CheckoutRow,
    invoice: InvoiceRow,
  ): Promise<void>;
  /** Moves the actor's developer to the plan that they paid for last, or to the free one. */
  settlePlan(trx: Knex.Transaction, actor: Actor): Promise<void>;
}

interface Dependencies {
  readonly applications: Pick<Applications, 'setGrace'>;
  readonly developers: Developers;
  readonly plans: Pick<Plans, 'find'>;
  readonly resellerPayments: ResellerPayments;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createEntitlements(deps: Dependencies): Entitlements {
  const { applications, developers, plans, resellerPayments, audit, clock, newId } = deps;

  async function movePack(
    trx: Knex.Transaction,
    actor: Actor,
    { reseller_id: resellerId }: CheckoutRow,
    invoice: InvoiceRow,
    units: number,
  ): Promise<void> {
    const { invoice_id: reference, ever_granted: again } = invoice;
    const { developerId } = actor;
    if (resellerId !== null) {
      const movement = { resellerId, amountMinor: Math.abs(units), reference };
      if (units < 0) await resellerPayments.takeBack(trx, actor, movement);
      else if (again) await resellerPayments.giveBack(trx, actor, movement);
      else await resellerPayments.topUp(trx, actor, { ...movement, note: null });
      return;
    }
    await insertQuotaEntry(trx, {
      entry_id: newId('led'),
      developer_id: developerId,
      amount: units,
      invoice_id: reference,
      created_at: clock.now(),
    });
    await developers.movePacks(trx, developerId, units);
    const action = units < 0 ? 'license_quota.reversed' : 'license_quota.added';
    await audit.record(trx, actor, { action, target: reference, data: { licenses: units } });
  }

  return {
    async settleInvoice(trx, actor, checkout, invoice) {
      if (invoice.state !== 'paid') return;
      const reversal = (invoice.payment_ref &&
        (await invoiceStore.findReversal(trx, invoice.processor, invoice.payment_ref))) || {
        refunded_minor: 0,
        dispute: null,
      };
      const { refunded_minor, dispute } = reversal;
      const due = invoice.units === null ? 0 : unitsDue(invoice.units, invoice.amount_minor, reversal);
      const change = due - invoice.units_granted;
      if (change !== 0) await movePack(trx, actor, checkout, invoice, change);
      await invoiceStore.updateInvoice(trx, invoice.invoice_id, {
        refunded_minor,
        dispute,
        units_granted: due,
        ever_granted: invoice.ever_granted || due > 0,
      });
      if (invoice.subscription_id === null) return;
      const paying = await invoiceStore.listPayingPresent(trx, invoice.subscription_id);
      if (paying.length === 0) return;
      const { state } = (await store.findSubscription(trx, invoice.subscription_id))!;
      const lost = paying.some((each) => each.dispute === 'lost' || each.refunded_minor >= each.amount_minor);
      await store.updateSubscription(trx, invoice.subscription_id, {
        reversed: paying.some((each) => isReversed(each.amount_minor, each)),
        // A period that was refunded in full must not be renewed. An open dispute may still be won, or a
        // later period be paid.
        end_wanted: lost && state !== 'ended',
      });
    },

    async settlePlan(trx, actor) {
      const { developerId } = actor;
      const inForce = await store.listInForce(trx, developerId);
      const [current] = inForce;
      for (const { subscription_id, subscription_ref, end_wanted } of inForce) {
        // No developer pays for two plans. The rest of the older one is not credited: its payment may still
        // be reversed.
        const unwanted = subscription_id !== current!.subscription_id && subscription_ref !== null;
        if (end_wanted !== unwanted)
          await store.updateSubscription(trx, subscription_id, { end_wanted: unwanted });
      }
      const from = await developers.planOf(trx, developerId);
      const to = current?.plan_id ?? FREE_PLAN;
      if (from === to) return;
      const now = clock.now();
      // Locks applications before the developer, in the same order as the deletion of an application.
      const { max_apps: maxApps, max_users_per_app: maxUsersPerApp } = (await plans.find(trx, to))!;
      await applications.setGrace(trx, developerId, { maxApps, maxUsersPerApp }, graceEnd(now));
      await developers.changePlan(trx, actor, to, to === FREE_PLAN ? now : null);
    },
  };
}
