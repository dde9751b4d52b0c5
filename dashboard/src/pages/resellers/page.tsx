import { Link } from '@tanstack/react-router';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { nameClass } from '../../components/name.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { formatMoney } from '../../lib/format.ts';
import { Page } from '../../shell/page.tsx';
import { CreateResellerDialog } from './create-reseller-dialog.tsx';
import { type Reseller, useResellers } from './queries.ts';
import { resellersRoute } from './route.ts';

const COLUMNS: readonly Column<Reseller>[] = [
  {
    id: 'name',
    header: 'Reseller',
    cell: ({ reseller_id, name }) => (
      <Link
        to="/resellers/$resellerId"
        params={{ resellerId: reseller_id }}
        className={nameClass}
        title={name}
      >
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  {
    id: 'balance',
    header: 'Balance',
    width: '8rem',
    isNumber: true,
    cell: ({ balance, currency }) => formatMoney(balance, currency),
  },
  {
    id: 'owed',
    header: 'Owed',
    width: '8rem',
    from: 'desktop',
    isNumber: true,
    cell: ({ owed, currency }) => (owed ? formatMoney(owed, currency) : '—'),
  },
  {
    id: 'commission',
    header: 'Commission',
    width: '7rem',
    from: 'tablet',
    isNumber: true,
    cell: ({ commission_margin }) => `${commission_margin}%`,
  },
  {
    id: 'state',
    header: 'State',
    width: '7.5rem',
    from: 'tablet',
    cell: ({ suspended }) =>
      suspended ? <Badge tone="warn">suspended</Badge> : <Badge tone="good">active</Badge>,
  },
  {
    id: 'created',
    header: 'Created',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
];

/** The resellers of the developer. */
export function ResellersPage() {
  const { create } = resellersRoute.useSearch();
  const navigate = resellersRoute.useNavigate();
  const list = useResellers();
  const button = (
    <Button look="primary" icon="plus" onClick={() => void navigate({ search: { create: 'yes' } })}>
      Create reseller
    </Button>
  );
  return (
    <Page
      title="Resellers"
      description={
        'Partners who sell your license keys. They buy keys from a prepaid balance, at the ' +
        'prices that you set.'
      }
      actions={button}
    >
      <DataTable
        label="resellers"
        list={list}
        columns={COLUMNS}
        idOf={({ reseller_id }) => reseller_id}
        nameOf={({ name }) => name}
        empty={
          <EmptyState icon="store" title="No resellers yet" action={button}>
            Create a reseller, set prices and credit a balance. The reseller then generates keys in a page of
            their own or by API.
          </EmptyState>
        }
      />
      <CreateResellerDialog
        open={create !== undefined}
        onClose={() => void navigate({ search: {}, replace: true })}
      />
    </Page>
  );
}
