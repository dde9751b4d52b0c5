import { Callout } from '../../components/callout.tsx';
import { type Column, DataTable } from '../../components/data-table/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { InvoiceState } from '../../components/invoice-state.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { formatMoney } from '../../lib/format.ts';
import { Stack } from '../../shell/page.tsx';
import { type Invoice, type Plan, type Subscription, useInvoices } from './queries.ts';

const columns = (plans: ReadonlyMap<string, string>): readonly Column<Invoice>[] => [
  {
    id: 'number',
    header: 'Invoice',
    cell: ({ number, invoice_id, receipt_url: receipt }) =>
      receipt ? (
        <a href={receipt} target="_blank" rel="noreferrer" title="Open the receipt">
          {number ?? invoice_id}
        </a>
      ) : (
        <span title={invoice_id}>{number ?? '—'}</span>
      ),
  },
  {
    id: 'plan',
    header: 'For',
    from: 'tablet',
    cell: ({ plan_id }) => <bdi>{plans.get(plan_id) ?? 'A plan that is no longer sold'}</bdi>,
  },
  {
    id: 'state',
    header: 'State',
    width: '8.5rem',
    cell: ({ state }) => <InvoiceState state={state} />,
  },
  {
    id: 'amount',
    header: 'Amount',
    width: '7rem',
    isNumber: true,
    cell: ({ amount, currency }) => formatMoney(amount, currency),
  },
  {
    id: 'refunded',
    header: 'Refunded',
    width: '7.5rem',
    from: 'desktop',
    isNumber: true,
    cell: ({ refunded, currency }) => (refunded > 0 ? formatMoney(refunded, currency) : '—'),
  },
  {
    id: 'created',
    header: 'Date',
    width: TIME_WIDTHS.absolute,
    from: 'tablet',
    cell: ({ created_at }) => <Time value={created_at} />,
  },
];

interface Props {
  readonly plans: readonly Plan[];
  readonly subscription: Subscription | null;
}

/** Every payment, and every renewal that failed. */
export function Invoices({ plans, subscription }: Props) {
  const list = useInvoices();
  const names = new Map(plans.map(({ id, name }) => [id, name]));
  if (subscription) names.set(subscription.plan_id, subscription.plan_name);
  const hasFailed = list.items.some(({ state }) => state === 'failed');
  const isDisputed = list.items.some(({ state }) => state === 'disputed');
  return (
    <Stack>
      {hasFailed && (
        <Callout tone="warn">
          A renewal whose payment failed costs you nothing. While your subscription is running, the payment
          processor tries again. Its receipt page, if there is one, lets you pay with another card.
        </Callout>
      )}
      {isDisputed && (
        <Callout tone="bad">
          You or your bank disputed a payment. What you bought with it is suspended until the dispute is
          settled in favor of the operator.
        </Callout>
      )}
      <DataTable
        label="invoices"
        list={list}
        columns={columns(names)}
        idOf={({ invoice_id }) => invoice_id}
        nameOf={({ number, invoice_id }) => number ?? invoice_id}
        empty={
          <EmptyState icon="card" title="No invoices">
            Every payment appears here with its receipt and its refunds.
          </EmptyState>
        }
      />
    </Stack>
  );
}
