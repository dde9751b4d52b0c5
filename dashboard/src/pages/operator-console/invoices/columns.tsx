import { Link } from '@tanstack/react-router';
import type { Column } from '../../../components/data-table/data-table.tsx';
import { NameButton } from '../../../components/name.tsx';
import { InvoiceState } from '../../../components/invoice-state.tsx';
import { Time, TIME_WIDTHS } from '../../../components/time.tsx';
import { formatMoney } from '../../../lib/format.ts';
import type { Invoice } from './queries.ts';

export const invoiceColumns = (onOpen: (id: string) => void): readonly Column<Invoice>[] => [
  {
    id: 'number',
    header: 'Invoice',
    cell: ({ invoice_id, number }) => (
      <NameButton onClick={() => onOpen(invoice_id)}>{number ?? invoice_id}</NameButton>
    ),
  },
  {
    id: 'developer',
    header: 'Developer',
    from: 'desktop',
    cell: ({ developer_id: developerId }) => (
      <Link to="/admin/developers/$developerId" params={{ developerId }} title={developerId}>
        <code>{developerId}</code>
      </Link>
    ),
  },
  { id: 'state', header: 'State', width: '8.5rem', cell: ({ state }) => <InvoiceState state={state} /> },
  {
    id: 'created',
    header: 'Created',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
  {
    id: 'refunded',
    header: 'Refunded',
    width: '7rem',
    from: 'tablet',
    isNumber: true,
    cell: ({ refunded, currency }) => (refunded > 0 ? formatMoney(refunded, currency) : '—'),
  },
  {
    id: 'amount',
    header: 'Amount',
    width: '7rem',
    isNumber: true,
    cell: ({ amount, currency }) => formatMoney(amount, currency),
  },
];
