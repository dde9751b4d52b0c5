import { useSought } from '../../../api/sought.ts';
import { DataTable } from '../../../components/data-table/data-table.tsx';
import { EmptyState } from '../../../components/empty-state.tsx';
import { formatMoney } from '../../../lib/format.ts';
import { Page } from '../../../shell/page.tsx';
import { useOwnReseller } from '../queries.ts';
import { ledgerColumns } from './columns.tsx';
import { EntryDrawer } from './entry-drawer.tsx';
import { useLedger } from './queries.ts';
import { resellerLedgerRoute } from './route.ts';

/** Every change of the balance. */
export function ResellerLedgerPage() {
  const { entry } = resellerLedgerRoute.useSearch();
  const navigate = resellerLedgerRoute.useNavigate();
  const reseller = useOwnReseller().data;
  const list = useLedger();
  const { item, isSought } = useSought(list, entry, ({ entry_id }) => entry_id);
  const open = (id: string) => void navigate({ search: { entry: id }, replace: true, resetScroll: false });
  const money = (value: number) => formatMoney(value, reseller?.currency ?? 'USD');
  return (
    <Page
      title="Ledger"
      description={
        reseller
          ? `Every change of your balance, which is ${money(reseller.balance)} now. Entries never change.`
          : 'Every change of your balance. Entries never change.'
      }
    >
      <DataTable
        label="entries"
        list={list}
        columns={reseller ? ledgerColumns(money, open) : []}
        idOf={({ entry_id }) => entry_id}
        nameOf={({ entry_id }) => entry_id}
        currentId={entry}
        empty={
          <EmptyState icon="list" title="No entries yet">
            Credit from the developer, keys that you buy and keys that you return are listed here.
          </EmptyState>
        }
      />
      <EntryDrawer
        id={entry}
        item={item}
        isSought={isSought}
        reseller={reseller}
        money={money}
        onClose={() => open('')}
      />
    </Page>
  );
}
