import { createAdministrators } from '../administration/administrators.ts';
import { createCheckouts } from '../billing/checkouts.ts';
import { createEntitlements } from '../billing/entitlements.ts';
import { createInvoices } from '../billing/invoices.ts';
import { createPlanSubscriptions } from '../billing/plan-subscriptions.ts';
import { createReconciliation } from '../billing/reconciliation.ts';
import { createSettlement } from '../billing/settlement.ts';
import { openPayments } from '../platform/payments/index.ts';
import { createPlans } from '../plans/plans.ts';
import type { Accounts } from './accounts.ts';
import type { Foundation } from './foundation.ts';
import type { Licensing } from './licensing.ts';
import type { Products } from './products.ts';

export type Billing = Awaited<ReturnType<typeof composeBilling>>;

/** What developers pay, and who sells it. */
export async function composeBilling(before: Foundation & Accounts & Licensing & Products) {
  const { config, keys } = before;
  const { id, bytes } = keys.testPayments;
  const { payments, checkoutPage } = await openPayments({
    ...before,
    stripe: config.stripe,
    account: `acct_test_${id}`,
    signingSecret: bytes,
    notifyUrl: () => `${before.localUrl()}/api/v2/payments/webhook`,
  });
  if (payments.processor === 'test' && config.baseUrl !== undefined) {
    before.logger.warn(
      'payments go through the test processor: no money moves, and a test card pays for everything (set STRIPE_SECRET_KEY)',
    );
  }
  const entitlements = createEntitlements(before);
  const plans = createPlans({ ...before, payments });
  const known = { ...before, payments, entitlements, plans };
  const settlement = createSettlement(known);
  const planSubscriptions = createPlanSubscriptions({ ...known, settlement });
  return {
    administrators: createAdministrators(before.adminTokens),
    payments,
    checkoutPage,
    plans,
    planSubscriptions,
    settlement,
    checkouts: createCheckouts({ ...known, planSubscriptions }),
    invoices: createInvoices(known),
    reconciliation: createReconciliation({ ...known, settlement }),
  };
}
