export type { Checkout, Checkouts, CheckoutStatus } from './checkouts.ts';
export type { Invoice, Invoices } from './invoices.ts';
export type { PlanSubscription, PlanSubscriptions } from './plan-subscriptions.ts';
export type { Revenue, RevenueTotal } from './revenue.ts';
export type { Reconciliation } from './settlement/reconciliation.ts';
export type { Settlement } from './settlement/settlement.ts';
