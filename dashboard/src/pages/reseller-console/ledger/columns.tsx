import type { Column } from '../../../components/data-table/data-table.tsx';
import { NameButton } from '../../../components/name.tsx';
import { Time, TIME_WIDTHS } from '../../../components/time.tsx';
import { formatNumber } from '../../../lib/format.ts';
import styles from './ledger.module.css';
import type { LedgerEntry } from './queries.ts';

export const KIND_NAMES: Readonly<Record<LedgerEntry['kind'], string>> = {
  credit: 'Credit',
  debit: 'Debit',
  generation: 'Keys bought',
  refund: 'Key returned',
  commission: 'Commission',
  top_up: 'Payment',
  reversal: 'Payment reversed',
};

/** An amount with its sign, and additions in another color. */
export const Change = ({
  value,
  money,
}: {
  readonly value: number;
  readonly money: (value: number) => string;
}) => (
  <span className={value > 0 ? styles.added : undefined}>
    {value > 0 && '+'}
    {money(value)}
  </span>
);

export const ledgerColumns = (
  money: (value: number) => string,
  onOpen: (id: string) => void,
): readonly Column<LedgerEntry>[] => [
  {
    id: 'kind',
    header: 'Entry',
    cell: ({ entry_id, kind, licenses }) => (
      <NameButton onClick={() => onOpen(entry_id)}>
        {KIND_NAMES[kind]}
        {licenses > 1 && ` (${formatNumber(licenses)})`}
      </NameButton>
    ),
  },
  {
    id: 'note',
    header: 'Note',
    from: 'desktop',
    cell: ({ note }) => (note ? <bdi title={note}>{note}</bdi> : '—'),
  },
  {
    id: 'time',
    header: 'Time',
    width: TIME_WIDTHS.relative,
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
  {
    id: 'amount',
    header: 'Amount',
    width: '7rem',
    isNumber: true,
    cell: ({ amount }) => <Change value={amount} money={money} />,
  },
  {
    id: 'balance',
    header: 'Balance',
    width: '8.5rem',
    from: 'tablet',
    isNumber: true,
    cell: ({ balance }) => money(balance),
  },
];
