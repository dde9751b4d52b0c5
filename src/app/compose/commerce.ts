import { createCheckouts } from '../../commerce/billing/checkouts.ts';
import { createEntitlements } from '../../commerce/billing/settlement/entitlements.ts';
import { createInvoices } from '../../commerce/billing/invoices.ts';
import { createPlanSubscriptions } from '../../commerce/billing/plan-subscriptions.ts';
import { createReconciliation } from '../../commerce/billing/settlement/reconciliation.ts';
import { createRevenue } from '../../commerce/billing/revenue.ts';
import { createSettlement } from '../../commerce/billing/settlement/settlement.ts';
import { createMachinePayments } from '../../commerce/machine-payments/machine-payments.ts';
import { createResellerPayments } from '../../commerce/resellers/balance-payments.ts';
import { createLedger } from '../../commerce/resellers/ledger.ts';
import { createResellerAccount } from '../../commerce/resellers/reseller-account.ts';
import { createResellers } from '../../commerce/resellers/resellers.ts';
import { createKeySafe } from '../../licensing/licenses/license.ts';
import { createResellerLicenses } from '../../licensing/licenses/reseller-licenses.ts';
import type { Accounts } from './accounts.ts';
import type { Foundation } from './foundation.ts';
import type { Licensing } from './licensing.ts';

export type Commerce = ReturnType<typeof composeCommerce>;

/** The network of payment tokens for the embedded test processor. */
const TEST_NETWORK = 'latchkey-test';

/** What developers pay for plans, what resellers sell, and what programs pay per request. */
export function composeCommerce(before: Foundation & Accounts & Licensing) {
  const { config, payments } = before;
  const ledger = createLedger(before);
  const resellerLicenses = createResellerLicenses({ ...before, safe: createKeySafe(before) });
  const resellerPayments = createResellerPayments(ledger);
  const entitlements = createEntitlements({ ...before, resellerPayments });
  const resellers = createResellers({ ...before, ledger });
  const known = { ...before, resellers, resellerPayments, entitlements };
  const settlement = createSettlement(known);
  const planSubscriptions = createPlanSubscriptions({ ...known, settlement });
  const networkId = payments.processor === 'test' ? TEST_NETWORK : config.stripe?.networkId;
  return {
    resellers,
    resellerPayments,
    resellerAccount: createResellerAccount({ ...before, ledger, resellerLicenses }),
    planSubscriptions,
    settlement,
    checkouts: createCheckouts({ ...known, planSubscriptions }),
    invoices: createInvoices(known),
    revenue: createRevenue(before),
    reconciliation: createReconciliation({ ...known, settlement }),
    machinePayments: createMachinePayments({ ...before, networkId }),
  };
}
