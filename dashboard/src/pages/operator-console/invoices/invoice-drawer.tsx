import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Button, buttonClass } from '../../../components/button.tsx';
import { Callout } from '../../../components/callout.tsx';
import { Facts } from '../../../components/card.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Loading } from '../../../components/skeleton.tsx';
import { InvoiceState } from '../../../components/invoice-state.tsx';
import { Time } from '../../../components/time.tsx';
import { formatMoney } from '../../../lib/format.ts';
import { useLast } from '../../../lib/last.ts';
import styles from './invoices.module.css';
import type { Invoice } from './queries.ts';
import { RefundDialog } from './refund-dialog.tsx';

interface Props {
  readonly id: string | undefined;
  readonly item: Invoice | undefined;
  readonly isSought: boolean;
  readonly onClose: () => void;
}

/** The details of one invoice, and its refund. */
export function InvoiceDrawer({ id, item, isSought, onClose }: Props) {
  const shown = useLast(item);
  const details = id === undefined ? shown : item;
  return (
    <Dialog kind="drawer" open={id !== undefined} onClose={onClose} title="Invoice">
      {details ? (
        <Details key={details.invoice_id} invoice={details} />
      ) : isSought ? (
        <Loading what="the invoice" />
      ) : (
        <Callout tone="warn">This invoice is not among the newest ones that match the filters.</Callout>
      )}
    </Dialog>
  );
}

const isRefundable = ({ state, amount, refunded }: Invoice) =>
  (state === 'paid' || state === 'partially_refunded') && amount > refunded;

function Details({ invoice }: { readonly invoice: Invoice }) {
  const [isRefunding, setIsRefunding] = useState(false);
  const { amount, refunded, currency, developer_id: developerId } = invoice;
  const facts: (readonly [string, ReactNode])[] = [
    ['State', <InvoiceState key="state" state={invoice.state} />],
    ['Amount', formatMoney(amount, currency)],
    ['Refunded', formatMoney(refunded, currency)],
    ['Number', invoice.number ?? '—'],
    [
      'Developer',
      <Link key="developer" to="/admin/developers/$developerId" params={{ developerId }}>
        <code>{developerId}</code>
      </Link>,
    ],
    [
      'Plan',
      <Link key="plan" to="/admin/plans" search={{ plan: invoice.plan_id }}>
        <code>{invoice.plan_id}</code>
      </Link>,
    ],
    ['Created', <Time key="created" value={invoice.created_at} />],
  ];
  if (invoice.period_start) facts.push(['Paid from', <Time key="from" value={invoice.period_start} />]);
  if (invoice.period_end) facts.push(['Paid until', <Time key="until" value={invoice.period_end} />]);
  if (invoice.subscription_id) facts.push(['Subscription', <code key="sub">{invoice.subscription_id}</code>]);
  facts.push(['Checkout', <code key="checkout">{invoice.checkout_id}</code>]);
  facts.push(['Identifier', <code key="id">{invoice.invoice_id}</code>]);
  return (
    <>
      <div className={styles.actions}>
        {isRefundable(invoice) && <Button onClick={() => setIsRefunding(true)}>Refund</Button>}
        {invoice.receipt_url && (
          <a className={buttonClass()} href={invoice.receipt_url} target="_blank" rel="noreferrer">
            Receipt
          </a>
        )}
      </div>
      {invoice.state === 'disputed' && (
        <Callout tone="warn">
          The payer’s bank has reversed the payment. Respond to the dispute at the payment processor.
        </Callout>
      )}
      <Facts facts={facts} />
      <RefundDialog invoice={invoice} open={isRefunding} onClose={() => setIsRefunding(false)} />
    </>
  );
}
