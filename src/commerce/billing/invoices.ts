import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import { formatMinor, fromMinor, toMinor } from '../../foundation/money/money.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import { PaymentsError, type PaymentProcessor } from '../../platform/payments/index.ts';
import { isDisputed } from './billing-state.ts';
import * as store from './invoice-store.ts';
import type { InvoiceRow } from './invoice-store.ts';
import { callProcessor } from './processor-errors.ts';

/** A payment, or a failed attempt at one. Amounts are in units of the currency. */
export interface Invoice {
  readonly invoiceId: string;
  readonly developerId: string;
  /** The processor's invoice number, if any. */
  readonly number: string | null;
  readonly planId: string;
  readonly checkoutId: string;
  readonly subscriptionId: string | null;
  readonly state: 'paid' | 'failed' | 'partially_refunded' | 'refunded' | 'disputed';
  readonly amount: number;
  readonly refunded: number;
  readonly currency: string;
  readonly periodStart: Date | null;
  readonly periodEnd: Date | null;
  readonly receiptUrl: string | null;
  readonly createdAt: Date;
}

export interface Invoices {
  /** The developer's, newest first. */
  list(developerId: string, page: PageRequest): Promise<Page<Invoice>>;
  /** For the administrator: the invoices of all developers, or of one. */
  listAll(developerId: string | undefined, page: PageRequest): Promise<Page<Invoice>>;
  /**
   * Refunds money. The purchase is taken back when the processor's event confirms the refund.
   * @param amount in units of the currency; undefined for everything that is left
   * @param key an idempotency key; without one, the same amount is refunded once until the event arrives
   * @throws ApiError INVOICE_NOT_FOUND, INVOICE_NOT_REFUNDABLE; VALIDATION_FAILED for an amount that the
   *   currency cannot represent, or that the processor cannot refund; SERVICE_UNAVAILABLE while the processor
   *   cannot be reached
   */
  refund(
    actor: Actor,
    invoiceId: string,
    amount: number | undefined,
    key: string | undefined,
  ): Promise<Invoice>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly payments: PaymentProcessor;
  readonly audit: Audit;
}

export function createInvoices({ knex, payments, audit }: Dependencies): Invoices {
  const list: Invoices['listAll'] = async (developerId, request) => {
    const page = await readPage(
      request,
      'inv',
      (row: InvoiceRow) => row.invoice_id,
      (range) => store.listInvoices(knex, developerId, range),
    );
    return { data: page.data.map(toInvoice), nextCursor: page.nextCursor };
  };

  return {
    list,
    listAll: list,

    async refund(actor, invoiceId, amount, key) {
      const row = await store.findInvoice(knex, invoiceId);
      if (!row) throw new ApiError('INVOICE_NOT_FOUND');
      const left = row.amount_minor - row.refunded_minor;
      const amountMinor = amount === undefined ? undefined : toMinor(amount, row.currency);
      if (amount !== undefined && !amountMinor) {
        throw invalidMember('/amount', `must be a valid ${row.currency} amount above 0`);
      }
      const fault = amountMinor === undefined ? undefined : payments.amountFault(amountMinor, row.currency);
      if (fault !== undefined) throw invalidMember('/amount', fault);
      const { payment_ref } = row;
      const refuse = (detail: string, cause?: unknown) =>
        new ApiError('INVOICE_NOT_REFUNDABLE', { detail, cause });
      if (row.state !== 'paid' || payment_ref === null) throw refuse('Nothing was paid.');
      if (isDisputed(row)) throw refuse("The payer's bank has reversed the payment.");
      if (left === 0 || (amountMinor ?? 0) > left) {
        throw refuse(`The refundable amount is ${formatMinor(left, row.currency)}.`);
      }
      try {
        const once = hash(
          'sha256',
          JSON.stringify([invoiceId, key ?? [row.refunded_minor, amountMinor ?? left]]),
        );
        await callProcessor(() => payments.refund(payment_ref, amountMinor ?? left, once));
      } catch (error) {
        const refused = error instanceof ApiError && error.code !== 'SERVICE_UNAVAILABLE';
        if (refused) throw refuse('The payment processor has declined the refund.', error);
        if (error instanceof PaymentsError) throw refuse('The payment processor has no such payment.', error);
        throw error;
      }
      await knex.transaction((trx) =>
        audit.record(
          trx,
          { ...actor, developerId: row.developer_id },
          {
            action: 'invoice.refunded',
            target: invoiceId,
            data: { amount_minor: amountMinor ?? left, currency: row.currency },
          },
        ),
      );
      return toInvoice((await store.findInvoice(knex, invoiceId))!);
    },
  };
}

function stateOf(row: InvoiceRow): Invoice['state'] {
  if (row.state === 'failed') return 'failed';
  if (isDisputed(row)) return 'disputed';
  if (row.refunded_minor === 0) return 'paid';
  return row.refunded_minor < row.amount_minor ? 'partially_refunded' : 'refunded';
}

function toInvoice(row: InvoiceRow): Invoice {
  return {
    invoiceId: row.invoice_id,
    developerId: row.developer_id,
    number: row.number,
    planId: row.plan_id,
    checkoutId: row.checkout_id,
    subscriptionId: row.subscription_id,
    state: stateOf(row),
    amount: fromMinor(row.amount_minor, row.currency),
    refunded: fromMinor(row.refunded_minor, row.currency),
    currency: row.currency,
    periodStart: row.period_start,
    periodEnd: row.period_end,
    receiptUrl: row.receipt_url,
    createdAt: row.created_at,
  };
}
