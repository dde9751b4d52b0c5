import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Actor, Audit } from '../audit/audit.ts';
import { ApiError, invalidMember } from '../errors/api-error.ts';
import { formatMinor, fromMinor, toMinor } from '../money/money.ts';
import { readPage, type Page, type PageRequest } from '../paging/page.ts';
import { PaymentsError, type Payments } from '../platform/payments/index.ts';
import { isDisputed } from './billing-state.ts';
import * as store from './invoice-store.ts';
import type { InvoiceRow } from './invoice-store.ts';
import { talkTo } from './processor-faults.ts';

/** What was paid, or could not be. Amounts are in units of the currency. */
export interface Invoice {
  readonly invoiceId: string;
  readonly developerId: string;
  /** The processor's number of it, where it has one. */
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
  /** The administrator's view: everybody's, or those of one developer. */
  listAll(developerId: string | undefined, page: PageRequest): Promise<Page<Invoice>>;
  /**
   * Gives money back. What was bought with it is taken back when the processor's notice says that it was refunded.
   * @param amount in units of the currency; all that is left when undefined
   * @param key the same one refunds once; where there is none, the same amount is refunded once until the notice of it comes
   * @throws ApiError INVOICE_NOT_FOUND, INVOICE_NOT_REFUNDABLE; VALIDATION_FAILED for an amount that the currency cannot hold,
   *   or the processor does not give back; SERVICE_UNAVAILABLE while the processor cannot be reached
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
  readonly payments: Payments;
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
        throw invalidMember('/amount', `must be an amount above 0 that ${row.currency} can hold`);
      }
      const fault = amountMinor === undefined ? undefined : payments.amountFault(amountMinor, row.currency);
      if (fault !== undefined) throw invalidMember('/amount', fault);
      const { payment_ref } = row;
      const refuse = (detail: string, cause?: unknown) =>
        new ApiError('INVOICE_NOT_REFUNDABLE', { detail, cause });
      if (row.state !== 'paid' || payment_ref === null) throw refuse('Nothing was paid.');
      if (isDisputed(row)) throw refuse("The payer's bank has taken the money back.");
      if (left === 0 || (amountMinor ?? 0) > left) {
        throw refuse(`Of it ${formatMinor(left, row.currency)} can be refunded.`);
      }
      try {
        const once = hash(
          'sha256',
          JSON.stringify([invoiceId, key ?? [row.refunded_minor, amountMinor ?? left]]),
        );
        await talkTo(() => payments.refund(payment_ref, amountMinor ?? left, once));
      } catch (error) {
        const refused = error instanceof ApiError && error.code !== 'SERVICE_UNAVAILABLE';
        if (refused) throw refuse('The payment processor has refused it.', error);
        if (error instanceof PaymentsError)
          throw refuse('The payment processor does not know the payment.', error);
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
