import { type Column, DataTable } from '../../components/data-table/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { formatDuration, formatMoney, plural } from '../../lib/format.ts';
import type { Reseller } from '../resellers/queries.ts';
import { type LedgerEntry, useLedger } from './queries.ts';
import styles from './reseller.module.css';

const KINDS: Readonly<Record<LedgerEntry['kind'], string>> = {
  credit: 'Credit by you',
  debit: 'Debit by you',
  generation: 'Keys bought',
  refund: 'Key returned',
  commission: 'Commission',
  top_up: 'Payment',
  reversal: 'Reversed payment',
};

/** What an entry is about. */
function aboutOf({ licenses, tier, duration_days, lifetime, note }: LedgerEntry): string {
  const keys =
    tier === null
      ? undefined
      : [
          licenses > 0 ? `${plural(licenses, 'key')}, ${tier}` : tier,
          formatDuration(lifetime ? null : duration_days),
        ].join(', ');
  return [keys, note].filter(Boolean).join(' · ') || '—';
}

const columns = (currency: string): readonly Column<LedgerEntry>[] => [
  { id: 'kind', header: 'Entry', width: '9rem', cell: ({ kind }) => KINDS[kind] },
  {
    id: 'about',
    header: 'Details',
    from: 'tablet',
    cell: (entry) => <bdi title={aboutOf(entry)}>{aboutOf(entry)}</bdi>,
  },
  {
    id: 'amount',
    header: 'Amount',
    isNumber: true,
    cell: ({ amount }) => (
      <span className={amount > 0 ? styles.in : undefined}>
        {amount > 0 && '+'}
        {formatMoney(amount, currency)}
      </span>
    ),
  },
  {
    id: 'balance',
    header: 'Balance',
    isNumber: true,
    from: 'tablet',
    cell: ({ balance }) => formatMoney(balance, currency),
  },
  {
    id: 'time',
    header: 'Time',
    width: TIME_WIDTHS.relative,
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
];

/** Every change of the balance. */
export function Ledger({ reseller }: { readonly reseller: Reseller }) {
  const list = useLedger(reseller.reseller_id);
  return (
    <DataTable
      label="entries"
      list={list}
      columns={columns(reseller.currency)}
      idOf={({ entry_id }) => entry_id}
      nameOf={({ kind }) => KINDS[kind]}
      empty={
        <EmptyState icon="list" title="No entries yet">
          Every change of the balance appears here: credits, debits, keys with their commission, and payments.
          Entries never change.
        </EmptyState>
      }
    />
  );
}
